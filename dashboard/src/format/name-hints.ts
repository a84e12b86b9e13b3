export const AGENT_ID_HINT =
  'The name under which your software pays, such as “research-bot”. Up to 64 characters. It can’t be changed later.'
export const PASSKEY_NAME_HINT = 'A name by which you recognize this passkey, such as “Laptop” or “Blue security key”.'
