import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { duplexPair } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { streamingConnectionsMax, Upgrades } from './upgrades.ts'

function asking(upgrades: Upgrades) {
  const request = {} as IncomingMessage
  const [connection] = duplexPair()
  upgrades.note(request, { connection, head: Buffer.alloc(0) })
  return { request, connection }
}

describe('connections that are open', () => {
  it('are counted until they close', async () => {
    const upgrades = new Upgrades(() => {})
    const all = Array.from({ length: streamingConnectionsMax }, () => asking(upgrades))
    for (const { request } of all) expect(upgrades.take(request)).toBeDefined()
    expect(upgrades.isFull).toBe(true)
    const connection = all[0]?.connection.destroy()
    if (connection !== undefined) await once(connection, 'close')
    expect(upgrades.isFull).toBe(false)
  })

  it('are not those whose client has gone before they are taken', async () => {
    const told: unknown[] = []
    const upgrades = new Upgrades((connection) => told.push(connection))
    for (let count = 0; count < streamingConnectionsMax; count += 1) {
      const { request, connection } = asking(upgrades)
      await once(connection.destroy(), 'close')
      expect(upgrades.take(request)).toBeUndefined()
      expect(upgrades.isTaken(request)).toBe(false)
    }
    expect([upgrades.isFull, told]).toEqual([false, []])
  })
})
