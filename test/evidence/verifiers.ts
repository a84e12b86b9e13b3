import assert from 'node:assert/strict'
import { fetchOnce } from '../../sandbox/src/lib/fetch-once.ts'
import type { ChainNode } from '../../signer/src/evidence/judge-chain.ts'
import type { Trust, ValidResult } from '../../signer/src/evidence/judge-payment.ts'
import { parseOwnerKey } from '../../signer/src/evidence/owner-keys.ts'
import { verifyContent } from '../../signer/src/evidence/verify-content.ts'
import { NO_PYTHON, openPythonVerifier, type Answers, type Given, type Verdict } from './python-verifier.ts'

/** Both verifiers. They share no code, and must find the same. Without `python3`, there is only one. */
export function openVerifiers() {
  const python = NO_PYTHON === false ? openPythonVerifier() : null
  /** Verifies with both. Fails if they differ. */
  let asked = 0
  const verify = async (file: string | Uint8Array, given: Given = {}): Promise<Verdict> => {
    const [own, other] = await Promise.all([verifyHere(file, given), python?.verify(file, given)])
    if (other !== undefined) {
      asked += 1
      assert.deepEqual(select(other), own, JSON.stringify(other))
    }
    return own
  }
  /** Returns how many files Python has verified. */
  const countPython = (): number => asked
  return { verify, verifyHere, countPython, close: async () => python?.close() }
}

export type Verifiers = ReturnType<typeof openVerifiers>

/** Verifies with the verifier that the service's own programs use. */
async function verifyHere(file: string | Uint8Array, given: Given = {}): Promise<Verdict> {
  const content = new Uint8Array(Buffer.from(file))
  const trust: Trust = {
    ownerKeys: (given.ownerKeys ?? []).map((key) => parseOwnerKey(key) ?? assert.fail(key)),
    logKeys: given.logKeys ?? [],
    node: given.rpc === undefined ? null : openNode(given.rpc),
  }
  const result = await verifyContent(content, trust)
  if (result.kind === 'invalid') return { valid: false, part: result.part }
  if (result.kind === 'valid') return { valid: true, ...toAnswers(result) }
  return { valid: true, left_out: result.leftOut, payments: result.payments.map(toAnswers) }
}

function toAnswers({ payment, ownerSigned, withinLimits, onChain }: ValidResult): Answers {
  return {
    payment: payment.id,
    owner_signed: ownerSigned.answer,
    within_limits: withinLimits.answer,
    on_chain: onChain.answer,
  }
}

/** Leaves out the reasons, which each verifier words in its own way. */
function select(verdict: Verdict): Verdict {
  if (!verdict.valid) return { valid: false, part: verdict.part }
  if ('payments' in verdict) return { ...verdict, payments: verdict.payments.map(selectAnswers) }
  return { valid: true, ...selectAnswers(verdict) }
}

function selectAnswers({ payment, owner_signed, within_limits, on_chain }: Answers): Answers {
  return { payment, owner_signed, within_limits, on_chain }
}

function openNode(url: string): ChainNode {
  return async (method, params) => {
    const response = await fetchOnce(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    return ((await response.json()) as { result?: unknown }).result
  }
}
