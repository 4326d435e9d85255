import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { CountedConnections } from './relay.ts'

it('counts connections to pods until they close, and none that has gone before', async () => {
  const open = new CountedConnections(2)
  for (let index = 0; index < 3; index += 1) {
    const gone = new PassThrough().destroy()
    await once(gone, 'close')
    open.add(gone)
  }
  const [first, second] = [new PassThrough(), new PassThrough()]
  open.add(first)
  open.add(second)
  expect(() => open.add(new PassThrough())).toThrow('too many connections to pods are open')
  first.destroy()
  await once(first, 'close')
  open.add(new PassThrough())
})
