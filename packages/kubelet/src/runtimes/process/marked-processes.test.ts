import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { realEnvironment } from '@coracle/environment'
import { expect, it } from 'vitest'
import { containerMark, MarkedProcesses } from './marked-processes.ts'

const linux = { meta: { needs: 'Linux' } }

it.skipIf(process.platform !== 'linux').each([
  ['has it', containerMark, ''],
  ['is being launched', 'CORACLE_LAUNCH_3', `${containerMark}=`],
  ['changes its user', 'CORACLE_USER_1', `${containerMark}=`],
  ['is being launched, to change its user', 'CORACLE_LAUNCH_0', `CORACLE_USER_1=${containerMark}=`],
])('a process is found by the mark of its container where it %s', linux, async (_, name, before) => {
  const [ours, other] = ['a1b2', 'a1b3'].map((id) =>
    spawn('/bin/sleep', ['60'], { env: { FIRST: '1', [name]: `${before}${id}` }, stdio: 'ignore' }),
  )
  if (ours === undefined || other === undefined) throw new Error('not started')
  const end = once(ours, 'exit')
  await Promise.all([once(ours, 'spawn'), once(other, 'spawn')])
  await new MarkedProcesses(realEnvironment()).killAll('a1b2')
  expect(await end).toEqual([null, 'SIGKILL'])
  expect(other.exitCode ?? other.signalCode).toBeNull()
  const otherEnd = once(other, 'exit')
  other.kill('SIGKILL')
  await otherEnd
})
