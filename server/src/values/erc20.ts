import { parseAbi } from 'viem/utils'

/** The part of ERC-20 that we use, to encode calls and to read events. */
export const erc20Abi = parseAbi([
  'function balanceOf(address account) view returns (uint256)',
  'function transfer(address to, uint256 amount) returns (bool)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
])
