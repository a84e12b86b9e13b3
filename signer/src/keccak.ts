/** The bytes that one permutation takes in. */
const RATE_BYTES = 136
const LANE_BYTES = 8
const LANES = 25
const HASH_BYTES = 32
const ROUND_CONSTANTS = [
  0x0000000000000001n,
  0x0000000000008082n,
  0x800000000000808an,
  0x8000000080008000n,
  0x000000000000808bn,
  0x0000000080000001n,
  0x8000000080008081n,
  0x8000000000008009n,
  0x000000000000008an,
  0x0000000000000088n,
  0x0000000080008009n,
  0x000000008000000an,
  0x000000008000808bn,
  0x800000000000008bn,
  0x8000000000008089n,
  0x8000000000008003n,
  0x8000000000008002n,
  0x8000000000000080n,
  0x000000000000800an,
  0x800000008000000an,
  0x8000000080008081n,
  0x8000000000008080n,
  0x0000000080000001n,
  0x8000000080008008n,
] as const
/** The lanes that take the place of each other, in this order, each with its rotation. */
const MOVES = [
  [10, 1n],
  [7, 3n],
  [11, 6n],
  [17, 10n],
  [18, 15n],
  [3, 21n],
  [5, 28n],
  [16, 36n],
  [8, 45n],
  [21, 55n],
  [24, 2n],
  [4, 14n],
  [15, 27n],
  [23, 41n],
  [19, 56n],
  [13, 8n],
  [12, 25n],
  [2, 43n],
  [20, 62n],
  [14, 18n],
  [22, 39n],
  [9, 61n],
  [6, 20n],
  [1, 44n],
] as const

/**
 * Returns the Keccak-256 hash of fewer than 136 bytes. Ethereum uses this hash, and browsers have no function for it:
 * SHA3-256 (FIPS 202) differs from it in the padding.
 */
export function keccak256(message: Uint8Array): Uint8Array {
  if (message.length >= RATE_BYTES) throw new RangeError('the message is longer than one block')
  const block = new Uint8Array(LANES * LANE_BYTES)
  block.set(message)
  block[message.length] = 0x01
  block[RATE_BYTES - 1] = (block[RATE_BYTES - 1] ?? 0) | 0x80
  const view = new DataView(block.buffer)
  const lanes = BigUint64Array.from({ length: LANES }, (_, index) => view.getBigUint64(index * LANE_BYTES, true))
  for (const constant of ROUND_CONSTANTS) permute(lanes, constant)
  lanes.forEach((lane, index) => view.setBigUint64(index * LANE_BYTES, lane, true))
  return block.slice(0, HASH_BYTES)
}

/** One round (FIPS 202, section 3.2). `lanes` is the state, five rows of five lanes. */
function permute(lanes: BigUint64Array, constant: bigint): void {
  const at = (index: number): bigint => lanes[index] ?? 0n
  const columns = [0, 1, 2, 3, 4].map((x) => at(x) ^ at(x + 5) ^ at(x + 10) ^ at(x + 15) ^ at(x + 20))
  const parity = (x: number): bigint => columns[x % 5] ?? 0n
  for (let index = 0; index < LANES; index += 1) {
    lanes[index] = at(index) ^ parity(index + 4) ^ rotate(parity(index + 1), 1n)
  }
  let moved = at(1)
  for (const [to, by] of MOVES) {
    const next = at(to)
    lanes[to] = rotate(moved, by)
    moved = next
  }
  for (let row = 0; row < LANES; row += 5) {
    const [a, b, c, d, e] = [at(row), at(row + 1), at(row + 2), at(row + 3), at(row + 4)]
    lanes.set([a ^ (~b & c), b ^ (~c & d), c ^ (~d & e), d ^ (~e & a), e ^ (~a & b)].map(toLane), row)
  }
  lanes[0] = at(0) ^ constant
}

function rotate(lane: bigint, by: bigint): bigint {
  return toLane((lane << by) | (lane >> (64n - by)))
}

function toLane(value: bigint): bigint {
  return BigInt.asUintN(64, value)
}
