export const AGENT_ID_CHARS_MAX = 64
export const AGENT_ID_HINT =
  'Your programs use this ID. Up to 64 characters, such as “research-bot”. It can’t be changed later.'
