import { lineAt, type Module } from '../source-tree.ts'
import type { Rule } from '../rule.ts'

/** The words of the enclave's provider. Ours are: owners, rules, slot, signer, request to sign, refused. */
const PROVIDER_WORDS =
  /quorum|privy|polic(?:y|ies)_?ids?\b|authorization_(?:keys?|threshold|signature)|additional_signers?|override_polic|eth_(?:sendTransaction|signTypedData)/gi
/** A code of the public API, and the columns that have the provider's words in their names. */
const KEPT_NAMES = /\b(?:privy_call_failed|owner_quorum_id|enclave_policy_id)\b/g
/** The code that speaks to the provider, makes the connection, reads its settings, or is about the provider itself. */
const PROVIDERS_PLACES = [
  'server/src/enclave/privy/',
  'server/src/service.ts',
  'server/src/config.ts',
  'server/src/provider-check/',
  'server/src/doctor/',
]
const OUR_PLACES = ['server/src/', 'dashboard/src/', 'cli/src/', 'sandbox/src/control/', 'sandbox/src/demo/']

export const ENCLAVE_DOOR: Rule = {
  name: 'the words of the provider of the enclave stay behind the interface Enclave',
  check: (tree) => tree.modules.filter(isOurs).flatMap(checkModule),
}

function isOurs({ path, isTest }: Module): boolean {
  const isIn = (places: readonly string[]): boolean => places.some((place) => path.startsWith(place))
  return !isTest && isIn(OUR_PLACES) && !isIn(PROVIDERS_PLACES)
}

function checkModule({ path, text }: Module) {
  const ours = text.replace(KEPT_NAMES, (name) => ' '.repeat(name.length))
  return [...ours.matchAll(PROVIDER_WORDS)].map((match) => ({
    path,
    line: lineAt(text, match.index),
    message: `\`${match[0]}\` is a word of the provider: use the words of server/src/enclave/enclave.ts, and build what the provider reads in server/src/enclave/privy/`,
  }))
}
