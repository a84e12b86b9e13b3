-- A label beside the id of an agent. Programs use the id, which never changes; the label is for people.

lock table agents in access exclusive mode;

alter table agents add column label text;
