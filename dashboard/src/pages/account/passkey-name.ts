export const PASSKEY_NAME_CHARS_MAX = 100
export const PASSKEY_NAME_HINT = 'A name by which you recognize this passkey, such as “Laptop” or “Blue security key”.'
