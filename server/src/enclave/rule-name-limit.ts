/** The longest name of a rule. The provider's documents disagree whether 50 characters are allowed. */
export const RULE_NAME_CHARS_MAX = 49
