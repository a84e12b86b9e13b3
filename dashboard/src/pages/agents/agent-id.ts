export const AGENT_ID_CHARS_MAX = 64
export const AGENT_ID_HINT =
  'The name under which your software pays, such as “research-bot”. Up to 64 characters. It can’t be changed later.'
