export const PASSKEY_NAME_CHARS_MAX = 100
export const PASSKEY_NAME_HINT = 'So that you know it again: “Laptop”, “Blue security key”.'
