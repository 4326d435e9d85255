import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { createLogger, type LogLine, seededRandom } from '@coracle/environment'
import { mountsBelow, unmountBelow } from '@coracle/environment/mounts'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryDirectory } from '../../../testing/temporary-directory.ts'
import { canMount } from '../../../volumes/memory-volume.ts'
import { ContainerConfigError, type Mount } from '../../runtime.ts'
import { checkPlace, leadsTo, mountOpened, openPart, unmountPart } from './part-mount.ts'
import { VolumeParts } from './volume-parts.ts'

const needsRoot = { meta: { needs: 'root on Linux' } }
const mayMount = await canMount()

/** A volume with a directory `part` and a file in it, and a directory beside the volume. */
function startNode(roots: () => Promise<readonly string[] | undefined> = async () => ['/']) {
  const home = temporaryDirectory()
  onTestFinished(() => unmountBelow(home))
  const [volume, secret, directory] = [join(home, 'volume'), join(home, 'secret'), join(home, 'volume-parts')]
  for (const each of [join(volume, 'part'), secret]) mkdirSync(each, { recursive: true })
  writeFileSync(join(volume, 'part', 'file'), 'asked for')
  writeFileSync(join(secret, 'file'), 'secret')
  const at = (part: string): Mount => ({
    name: 'data',
    containerPath: `/${part}`,
    hostPath: join(volume, part),
    volumePath: volume,
  })
  const lines: LogLine[] = []
  const parts = new VolumeParts({
    directory,
    runtimeRoots: () => roots(),
    random: seededRandom(1),
    logger: createLogger((line) => lines.push(line)),
  })
  const hold = (...mounts: readonly Mount[]) => parts.hold({ name: 'main', mounts })
  /** Has a link to the secret be where the part was. */
  const swap = () => {
    renameSync(join(volume, 'part'), join(volume, 'was'))
    symlinkSync(secret, join(volume, 'part'))
  }
  return { home, volume, secret, directory, parts, hold, swap, at, lines }
}

/** The root of a process in a mount namespace of its own, which sees nothing that is mounted from then on. */
async function startElsewhere(): Promise<string> {
  const args = ['--mount', '--propagation', 'private', 'sh', '-c', 'echo; exec sleep 1000']
  const child = spawn('unshare', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  await once(child.stdout, 'data')
  return `/proc/${child.pid}/root`
}

describe.skipIf(!mayMount)('a part of a volume that a runtime is given', needsRoot, () => {
  it('stays what it was, whatever comes to its place, until it is released', async () => {
    const { volume, secret, directory, hold, swap, at } = startNode()
    const whole: Mount = { name: 'all', containerPath: '/all', hostPath: volume }
    const { mounts, release } = await hold(at('part'), whole, at('part/file'))
    swap()
    const [part, untouched, file] = mounts
    expect([part?.containerPath, untouched, file?.containerPath]).toEqual(['/part', whole, '/part/file'])
    expect(readFileSync(join(part?.hostPath ?? '', 'file'), 'utf8')).toBe('asked for')
    expect(readFileSync(file?.hostPath ?? '', 'utf8')).toBe('asked for')
    await release()
    expect(readdirSync(directory)).toEqual([])
    expect(await mountsBelow(directory)).toEqual([])
    expect(readdirSync(join(volume, 'was'))).toEqual(['file'])
    expect(readdirSync(secret)).toEqual(['file'])
  })

  it('is refused where a link has come to its place, or to the way there', async () => {
    const { directory, hold, swap, at, volume, lines } = startNode()
    mkdirSync(join(volume, 'other'))
    swap()
    const held = hold(at('other'), at('part/file'))
    await expect(held).rejects.toThrow(ContainerConfigError)
    await expect(held).rejects.toThrow(
      'failed to prepare subPath for volumeMount "data" of container "main": part is a link',
    )
    expect(readdirSync(directory)).toEqual([])
    expect(lines).toEqual([])
  })

  it('is what was opened, where its place is taken before it is mounted', async () => {
    const { home, swap, at } = startNode()
    const handle = openPart({ ...at('part'), hostPath: join(home, 'volume/part'), volumePath: join(home, 'volume') })
    swap()
    const target = join(home, 'target')
    await mountOpened(handle, target, '/usr/bin/mount')
    expect(readFileSync(join(target, 'file'), 'utf8')).toBe('asked for')
    expect(await leadsTo(handle, target)).toBe(true)
    expect(await leadsTo(handle, join(home, 'volume/part'))).toBe(false)
    expect(() => checkPlace(handle, join(home, 'volume/part'))).toThrow('volume/part has been moved')
    await unmountPart(target, '/usr/bin/mount')
    expect(existsSync(target)).toBe(false)
    closeSync(handle)
  })

  it('has what is mounted in it, which stays when it is released', async () => {
    const { volume, hold, at } = startNode()
    const within = join(volume, 'part/within')
    mkdirSync(within)
    const { status } = spawnSync('sh', [
      '-c',
      `mount --bind ${volume} ${volume} && mount --make-shared ${volume} && mount -t tmpfs tmpfs ${within} && touch ${within}/kept`,
    ])
    expect(status).toBe(0)
    const { mounts, release } = await hold(at('part'))
    expect(readdirSync(join(mounts[0]?.hostPath ?? '', 'within'))).toEqual(['kept'])
    await release()
    expect(readdirSync(within)).toEqual(['kept'])
  })

  it('is unmounted at the next start where the node agent was killed', async () => {
    const { volume, directory, parts, hold, at } = startNode()
    await hold(at('part'), at('part/file'))
    await parts.clear()
    expect(readdirSync(directory)).toEqual([])
    expect(readdirSync(join(volume, 'part'))).toEqual(['file'])
  })
})

describe.skipIf(!mayMount)(
  'a part of a volume for a runtime that does not see mounts of the node agent',
  needsRoot,
  () => {
    it.each<[why: string, findRoots: () => Promise<readonly string[] | undefined>, reason: string]>([
      [
        'in another mount namespace',
        async () => ['/', await startElsewhere()],
        'the container runtime does not see mounts of this process',
      ],
      ['or may not', async () => undefined, 'it cannot be told which process the container runtime is'],
    ])('%s is given by its path, which is said once', async (_why, findRoots, reason) => {
      const roots = await findRoots()
      const { directory, hold, at, lines } = startNode(async () => roots)
      for (const _ of [1, 2]) {
        const { mounts, release } = await hold(at('part'))
        expect(mounts).toEqual([at('part')])
        expect(readdirSync(directory)).toEqual([])
        await release()
      }
      expect(lines.map(({ level, fields }) => [level, fields])).toEqual([['warn', { reason }]])
    })

    it('is refused where it has seen others', async () => {
      let roots: readonly string[] | undefined = ['/']
      const { directory, hold, at, lines } = startNode(async () => roots)
      await (await hold(at('part'))).release()
      roots = undefined
      await expect(hold(at('part'))).rejects.toThrow(
        'failed to prepare subPath for volumeMount "data" of container "main": it cannot be told which process the container runtime is',
      )
      expect(readdirSync(directory)).toEqual([])
      expect(lines).toEqual([])
    })
  },
)
