import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { expect, it, onTestFinished } from 'vitest'
import { ownNumber, takeNumber } from './own-number.ts'

/** Numbers that nothing else asks for. */
const first = 17_000

it('is one that neither another process has, nor this one', async () => {
  const other = createSocket('udp4')
  onTestFinished(() => void other.close())
  const mine = await ownNumber(first, 500)
  other.bind(mine + 500, '127.0.0.1')
  await once(other, 'listening')
  expect([await takeNumber(mine), await takeNumber(mine + 500)]).toEqual([false, false])
  expect(await ownNumber(first, 500)).not.toBe(mine)
})

it('is refused where others have all', async () => {
  const number = await ownNumber(first + 1_000, 500)
  await expect(ownNumber(number, 1)).rejects.toThrow(`others have all 1 numbers from ${number} on`)
})
