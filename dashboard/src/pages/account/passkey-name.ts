export const PASSKEY_NAME_CHARS_MAX = 100
export const PASSKEY_NAME_HINT = 'A name to recognize it by, such as “Laptop” or “Blue security key”.'
