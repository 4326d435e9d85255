import { describe, expect, it } from 'vitest'
import { hostExchange } from './exchange.ts'

describe('a question to a server that cannot be reached', () => {
  const ask = (how: 'udp' | 'tcp', address: string) =>
    hostExchange[how]({ address, port: 1 }, Buffer.alloc(12), () => true, new AbortController().signal)

  it.each([
    ['nobody listens', 'udp', '127.0.0.1', 'ECONNREFUSED'],
    ['nobody listens', 'tcp', '127.0.0.1', 'ECONNREFUSED'],
    // As where there is no way to its network.
    ['its address is not to be sent to', 'udp', '255.255.255.255', 'EACCES'],
    ['its link is not there', 'udp', 'fe80::1%nowhere0', 'EINVAL'],
  ] as const)('fails where %s, by %s', async (_, how, address, code) => {
    await expect(ask(how, address)).rejects.toMatchObject({ code })
  })

  it('ends with the signal', async () => {
    const asking = hostExchange.udp(
      { address: '127.0.0.1', port: 1 },
      Buffer.alloc(12),
      () => true,
      AbortSignal.abort(new Error('too late')),
    )
    await expect(asking).rejects.toThrow('too late')
  })
})
