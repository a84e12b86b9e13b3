-- Every key has its last characters, and every event its text.

lock table api_keys, events in access exclusive mode;

alter table api_keys alter column last4 set not null;
alter table events alter column data_text set not null;
