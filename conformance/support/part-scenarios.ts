import { mkdir, mkdtemp, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { realEnvironment } from '../../packages/environment/src/index.ts'
import { mountsBelow } from '../../packages/environment/src/mounts.ts'
import type { CriRuntimeOptions } from '../../packages/kubelet/src/runtimes/cri/runtime-options.ts'
import type { ContainerConfig, Mount, Runtime } from '../../packages/kubelet/src/runtimes/runtime.ts'
import { sandboxConfig } from '../../packages/kubelet/src/testing/sandboxes.ts'
import { testImage } from '../../packages/kubelet/src/testing/test-images.ts'
import { eventually } from './program.ts'

type Started = AsyncDisposable & { readonly endpoint: string }

/** Parts of volumes, where another container of the pod has the whole volume and changes it at the worst moment. */
export function itKeepsParts(
  start: () => Promise<Started>,
  open: (options: CriRuntimeOptions) => Promise<Runtime>,
): void {
  let daemon: Started
  let home: string

  beforeAll(async () => {
    daemon = await start()
    home = await mkdtemp(join(tmpdir(), 'coracle-parts-'))
  })

  afterAll(async () => {
    await daemon[Symbol.asyncDispose]()
    expect(await mountsBelow(home)).toEqual([])
    await rm(home, { recursive: true, force: true })
  })

  const config = (mounts: readonly Mount[]): ContainerConfig => ({
    name: 'main',
    attempt: 0,
    image: testImage,
    command: ['sh', '-c', 'cat /part/file; cat /file; touch /part/made; echo .'],
    args: [],
    env: [],
    mounts,
    messageFromLog: false,
  })

  /** A volume with a directory `part`, and one of the host that no container is to see. */
  async function startPod() {
    const directory = await mkdtemp(join(home, 'node-'))
    const options = { environment: realEnvironment(), endpoint: daemon.endpoint, directory }
    const runtime = await open({ ...options, podLogsDirectory: join(directory, 'logs') })
    const { id: sandbox } = await runtime.runPodSandbox(sandboxConfig())
    onTestFinished(async () => {
      await runtime.removePodSandbox(sandbox)
      await runtime.close()
    })
    const [volume, secret] = [join(directory, 'volume'), join(directory, 'secret')]
    for (const each of [join(volume, 'part'), secret]) await mkdir(each, { recursive: true })
    await writeFile(join(volume, 'part', 'file'), 'asked for ')
    await writeFile(join(secret, 'file'), 'secret ')
    const at = (containerPath: string, part: string): Mount => ({
      name: 'all',
      containerPath,
      hostPath: join(volume, part),
      volumePath: volume,
    })
    return { directory, runtime, sandbox, volume, secret, mounts: [at('/part', 'part'), at('/file', 'part/file')] }
  }

  describe('a part of a volume', () => {
    it('is what it was when the container was made, whatever is in its place when it starts', async () => {
      const { directory, runtime, sandbox, volume, secret, mounts } = await startPod()
      const id = await runtime.createContainer(sandbox, config(mounts))
      await rename(join(volume, 'part'), join(volume, 'was'))
      await symlink(secret, join(volume, 'part'))
      const never = new AbortController().signal
      await runtime.startContainer(id, never)
      await eventually('its end', async () => (await runtime.listContainers())[0]?.state === 'exited')
      const said: Uint8Array[] = []
      for await (const piece of runtime.readLog(id, { follow: false, timestamps: false }, never)) said.push(piece)
      expect(Buffer.concat(said).toString()).toBe('asked for asked for .\n')
      expect(await readdir(join(volume, 'was'))).toEqual(['file', 'made'])
      expect(await readdir(secret)).toEqual(['file'])
      // It has its mounts, and the node none any more.
      expect(await mountsBelow(directory)).toEqual([])
      await runtime.removeContainer(id)
    })

    it('is not shown to a container where a link is in its place before', async () => {
      const { runtime, sandbox, volume, secret, mounts } = await startPod()
      await rename(join(volume, 'part'), join(volume, 'was'))
      await symlink(secret, join(volume, 'part'))
      await expect(runtime.createContainer(sandbox, config(mounts))).rejects.toThrow(
        'failed to prepare subPath for volumeMount "all" of container "main": part is a link',
      )
      expect(await runtime.listContainers()).toEqual([])
    })
  })
}
