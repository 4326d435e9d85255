import { once } from 'node:events'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { streamingConnectionsMax, Upgrades } from './upgrades.ts'

const connectionOf = () => new Duplex({ read() {}, write: (_, __, done) => done() })

function noted(upgrades: Upgrades, connection = connectionOf()) {
  const request = new IncomingMessage(new Socket())
  upgrades.note(request, { connection, head: Buffer.alloc(0) })
  return { request, connection }
}

describe('connections that become something else than HTTP', () => {
  it('are taken once, and counted until they close', async () => {
    const upgrades = new Upgrades(() => {})
    const all = Array.from({ length: streamingConnectionsMax }, () => noted(upgrades))
    for (const { request, connection } of all) expect(upgrades.take(request)?.connection).toBe(connection)
    expect([upgrades.isFull, all.every(({ request }) => upgrades.take(request) === undefined)]).toEqual([true, true])
    all[0]?.connection.destroy()
    await once(all[0]?.connection ?? connectionOf(), 'close')
    expect(upgrades.isFull).toBe(false)
  })

  it('are not taken, nor counted, where the client has gone meanwhile', async () => {
    const told: Duplex[] = []
    const upgrades = new Upgrades((connection) => told.push(connection))
    const gone = connectionOf().destroy()
    await once(gone, 'close')
    for (let count = 0; count < streamingConnectionsMax; count++) {
      const { request } = noted(upgrades, gone)
      expect([upgrades.take(request), upgrades.isTaken(request)]).toEqual([undefined, false])
    }
    expect([upgrades.isFull, told]).toEqual([false, []])
  })
})
