-- A client can be described by a metadata document on the web, whose URL is its id (decision 0037). The table keeps a
-- copy of the document, so that each request need not fetch it.

lock table oauth_clients in access exclusive mode;

alter table oauth_clients
  add column kind text not null default 'registered' check (kind in ('registered', 'document')),
  -- When the document was last read. Null for a copy that is built into the service.
  add column fetched_at timestamptz,
  -- Until then the copy is used without fetching the document again.
  add column fresh_until timestamptz,
  add constraint oauth_clients_document_check
    check ((kind = 'document') = (fresh_until is not null) and (kind = 'document' or fetched_at is null));
