import type { HttpServer } from '../../../../server/src/http/open-http.ts'
import { FAULTS } from '../enclave-control.ts'
import { Fields } from '../fields.ts'
import type { World } from '../world.ts'

const FAULT_COUNT_MAX = 1_000_000

export function addEnclaveRoutes(http: HttpServer, { enclave }: World): void {
  http.post('/enclave/faults', async (request) => {
    const fields = new Fields(request.body)
    const fault = fields.oneOf('fault', FAULTS)
    await enclave.orderFault(fault, fields.integer('count', { min: 1, max: FAULT_COUNT_MAX }))
    return {}
  })
}
