import type { HttpServer } from '../../../../server/src/http/open-http.ts'
import { FAULTS, SEND_FAULTS } from '../../enclave/faults.ts'
import { PROFILES } from '../../enclave/pace.ts'
import { REPEATED_REFERENCES } from '../../enclave/references.ts'
import type { EnclaveControl } from '../enclave-control.ts'
import { Fields } from '../fields.ts'
import type { ControlContext } from '../control-context.ts'

const FAULT_COUNT_MAX = 1_000_000
const SEED_MAX = 0xff_ff_ff_ff
/** The largest clock difference: ten years in either direction. */
const SKEW_SECONDS_MAX = 10 * 366 * 24 * 60 * 60

/**
 * Adds the routes that make the enclave do what the real one does now and then: fail, respond late, or have a different
 * clock.
 */
export function addEnclaveRoutes(http: HttpServer, { enclave }: ControlContext): void {
  http.post('/enclave/faults', async (request) => {
    await injectFaults(enclave, new Fields(request.body))
    return {}
  })
  http.get('/enclave/faults', async () => ({ met: await enclave.countInjectedFaults() }))
  http.post('/enclave/clock', async (request) => {
    const offset = { min: -SKEW_SECONDS_MAX, max: SKEW_SECONDS_MAX }
    await enclave.setClockSkew(new Fields(request.body).integer('offset_seconds', offset) * 1_000)
    return {}
  })
  http.post('/enclave/profile', async (request) => {
    await enclave.chooseProfile(new Fields(request.body).oneOf('profile', PROFILES))
    return {}
  })
  http.post('/enclave/references', async (request) => {
    await enclave.chooseRepeatedReference(new Fields(request.body).oneOf('repeated', REPEATED_REFERENCES))
    return {}
  })
  http.post('/enclave/forget-answers', async () => {
    await enclave.forgetAnswers()
    return {}
  })
}

async function injectFaults(enclave: EnclaveControl, fields: Fields): Promise<void> {
  const fault = fields.oneOf('fault', [...FAULTS, 'random', 'none'])
  if (fault === 'none') return await enclave.clearFaults()
  if (fault !== 'random')
    return await enclave.injectFault(fault, fields.integer('count', { min: 1, max: FAULT_COUNT_MAX }))
  await enclave.injectRandomFaults({
    share: fields.share('share'),
    seed: fields.has('seed') ? fields.integer('seed', { min: 0, max: SEED_MAX }) : 0,
    faults: fields.someOf('faults', SEND_FAULTS),
  })
}
