import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Pod, pods } from '@coracle/api'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startCluster } from '../src/index.ts'

/** The flag of close-on-exec in /proc/self/fdinfo, on all architectures that Node runs on. */
const closeOnExec = 0o2000000

async function inheritableDescriptors(): Promise<readonly string[]> {
  const inheritable: string[] = []
  for (const descriptor of await readdir('/proc/self/fd')) {
    const text = await readFile(`/proc/self/fdinfo/${descriptor}`, 'utf8').catch(() => '')
    const flags = /^flags:\s*([0-7]+)$/m.exec(text)?.[1]
    if (Number(descriptor) > 2 && flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0)
      inheritable.push(descriptor)
  }
  return inheritable
}

describe.skipIf(process.platform !== 'linux')('descriptors of the server', () => {
  it('reach no container, no probe and no hook, though LMDB leaves its database open to every child', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'descriptors-'))
    onTestFinished(() => rm(directory, { recursive: true, force: true }))
    await using cluster = await startCluster({
      runtime: 'process',
      dataDir: join(directory, 'data'),
      store: 'disk',
      listen: false,
    })
    expect(await inheritableDescriptors()).not.toEqual([])

    const tell = (file: string, then = 'true') => {
      return ['sh', '-c', `ls /proc/self/fd >${file}.new; mv ${file}.new ${file}; ${then}`]
    }
    const path = (who: string) => join(directory, who)
    await cluster.client.create<Pod>(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', namespace: 'default' },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [
          {
            name: 'c',
            image: 'none',
            command: tell(path('container'), 'exec sleep 1000'),
            lifecycle: {
              postStart: { exec: { command: tell(path('start')) } },
              preStop: { exec: { command: tell(path('stop')) } },
            },
            readinessProbe: { exec: { command: tell(path('probe')) }, timeoutSeconds: 60 },
          },
        ],
      },
    })
    const seenBy = async (...who: readonly string[]) =>
      await Promise.all(who.map((each) => readFile(path(each), 'utf8').catch(() => 'not yet')))
    await expect.poll(() => seenBy('container', 'start', 'probe')).not.toContain('not yet')
    await cluster.client.delete(pods, { namespace: 'default', name: 'p' }, { gracePeriodSeconds: 60 })
    await expect.poll(() => seenBy('stop')).not.toContain('not yet')
    // The last one is of the directory that `ls` reads.
    expect(await seenBy('container', 'start', 'probe', 'stop')).toEqual(Array(4).fill('0\n1\n2\n3\n'))
  })
})
