import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { settingsOf } from './unified-settings.ts'

/** A kernel in which this process is in the control group `/agent`, which has these files. */
async function kernel(files: readonly string[]) {
  const directory = await mkdtemp(join(tmpdir(), 'unified-settings-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const [processes, controlGroups] = [join(directory, 'proc'), join(directory, 'cgroup')]
  await mkdir(join(processes, 'self'), { recursive: true })
  await writeFile(join(processes, 'self', 'cgroup'), '0::/agent\n')
  await mkdir(join(controlGroups, 'agent'), { recursive: true })
  for (const name of files) await writeFile(join(controlGroups, 'agent', name), 'max\n')
  return { processes, controlGroups }
}

it('nothing of a container is swapped where the kernel limits that, and all of it ends with what is killed', async () => {
  const settings = await settingsOf(await kernel(['memory.max', 'memory.swap.max']))
  expect(settings).toEqual({ 'memory.oom.group': '1', 'memory.swap.max': '0' })
})

it('nothing is said of swap where the kernel does not limit it', async () => {
  expect(await settingsOf(await kernel(['memory.max']))).toEqual({ 'memory.oom.group': '1' })
  expect(await settingsOf({ processes: '/nowhere', controlGroups: '/nowhere' })).toEqual({ 'memory.oom.group': '1' })
})
