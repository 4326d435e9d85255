import { VirtualClock, virtualEnvironment } from '@coracle/environment'
import { expect, it } from 'vitest'
import { recordingHost } from '../testing/recording-host.ts'
import { Progress } from './progress.ts'

function progressOn(isTerminal: boolean) {
  const environment = virtualEnvironment()
  const { clock } = environment
  if (!(clock instanceof VirtualClock)) throw new Error('not virtual')
  const host = recordingHost({ environment, isTerminal })
  return { clock, host, progress: new Progress(host, 'opening the store') }
}

it('tells on a terminal what takes longer than a second, in a line that is gone at the end', async () => {
  const { clock, host, progress } = progressOn(true)
  await clock.advance(999)
  expect(host.written.stderr).toBe('')
  await clock.advance(1_500)
  expect(host.written.stderr.split('\r\u001b[K').at(-1)).toBe('opening the store … 2 s')
  progress.say('starting the nodes')
  expect(host.written.stderr.split('\r\u001b[K').at(-1)).toBe('starting the nodes … 2 s')
  progress.end()
  expect(host.written.stderr.endsWith('\r\u001b[K')).toBe(true)
  const { stderr } = host.written
  await clock.advance('1h')
  expect(host.written).toEqual({ stdout: '', stderr })
})

it('says nothing of what is quick', async () => {
  const { clock, host, progress } = progressOn(true)
  await clock.advance(999)
  progress.end()
  await clock.advance('1m')
  expect(host.written.stderr).toBe('')
})

it('says nothing into a pipe', async () => {
  const { clock, host, progress } = progressOn(false)
  await clock.advance('1m')
  progress.end()
  expect(host.written.stderr).toBe('')
})
