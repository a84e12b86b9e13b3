export const AGENT_ID_CHARS_MAX = 64
export const AGENT_ID_HINT =
  'Your programs name it by this. Up to 64 characters, such as “research-bot”; it can’t be changed later.'
