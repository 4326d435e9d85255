import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { seededRandom } from '@coracle/environment'
import { expect, it } from 'vitest'
import { temporaryDirectory } from '../../testing/temporary-directory.ts'
import type { PodSandboxConfig } from '../runtime.ts'
import { PodFiles } from './pod-files.ts'

const config: PodSandboxConfig = {
  podUid: 'uid',
  podName: 'web',
  podNamespace: 'shop',
  attempt: 0,
  hostname: 'web',
  hostNetwork: false,
}

const filesIn = (directory: string) => new PodFiles(directory, seededRandom(1))

it.each(['0', '1'])(
  'a pod is known by any of its sandboxes, also where what is kept of sandbox %s is cut off',
  async (cut) => {
    const directory = temporaryDirectory()
    const files = filesIn(directory)
    await files.keepSandbox(config)
    await files.keepSandbox({ ...config, attempt: 1 })
    expect(readdirSync(join(directory, 'uid')).sort()).toEqual(['sandbox-0.json', 'sandbox-1.json'])
    writeFileSync(join(directory, 'uid', `sandbox-${cut}.json`), '{"podUid":')
    expect(await files.pods()).toEqual([{ ...config, attempt: 1 - Number(cut) }])
  },
)

it('no pods are known where there is no directory, and nothing where it cannot be read', async () => {
  const directory = temporaryDirectory()
  writeFileSync(join(directory, 'file'), '')
  expect(await filesIn(directory).pods()).toEqual([])
  expect(await filesIn(join(directory, 'nowhere')).pods()).toEqual([])
  await expect(filesIn(join(directory, 'n'.repeat(300))).pods()).rejects.toThrow('ENAMETOOLONG')
})
