import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { virtualEnvironment } from '@coracle/environment'
import { expect, it } from 'vitest'
import { WorkTurns } from '../../work-turns.ts'
import { BodyReader, hugeBodiesMax, hugeBodyBytesMin } from './body-reader.ts'

const request = (bytes: number): IncomingMessage =>
  Object.assign(Readable.from([Buffer.alloc(bytes)]), { headers: {} }) as unknown as IncomingMessage

function start() {
  const { clock } = virtualEnvironment()
  const reader = new BodyReader(new WorkTurns(clock))
  const begun: PromiseWithResolvers<string>[] = []
  const use = (bytes: number) =>
    reader.use(request(bytes), () => {
      const work = Promise.withResolvers<string>()
      begun.push(work)
      return work.promise
    })
  return { begun, use }
}

it('lets few huge bodies be worked on at a time, and the next where one is through, however it went', async () => {
  const { begun, use } = start()
  const uses = Array.from({ length: hugeBodiesMax + 2 }, () => use(hugeBodyBytesMin))
  await expect.poll(() => begun.length).toBe(hugeBodiesMax)
  begun[0]?.reject(new Error('refused'))
  await expect(uses[0]).rejects.toThrow('refused')
  await expect.poll(() => begun.length).toBe(hugeBodiesMax + 1)
  begun[1]?.resolve('stored')
  expect(await uses[1]).toBe('stored')
  await expect.poll(() => begun.length).toBe(hugeBodiesMax + 2)
})

it('keeps no small body waiting for them', async () => {
  const { begun, use } = start()
  for (let count = 0; count < hugeBodiesMax; count += 1) void use(hugeBodyBytesMin)
  await expect.poll(() => begun.length).toBe(hugeBodiesMax)
  void use(100)
  await expect.poll(() => begun.length).toBe(hugeBodiesMax + 1)
})
