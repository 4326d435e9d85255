import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Api } from './support/api.ts'
import { type ControllerObject, controller, Kubectl, type PodObject } from './support/kubectl.ts'
import { eventually, type Outcome, Program } from './support/program.ts'

// The replication verbs that kubectl has no more: rolling-update, resize and stop.

/** Runs of one update that are killed before one is let through, and updates of that kind. */
const kills = 6
const updates = Number(process.env.CORACLE_ROLLING_UPDATES ?? 1)
/** What the run has that is let through: more than its own limits. */
const lastRunMs = 180_000

const quick = ['--update-period', '0s', '--poll-interval', '20ms', '--timeout', '60s']

let program: Program
let files: string
beforeAll(async () => {
  program = await Program.start({ args: ['--memory', '--runtime', 'simulated', '--nodes', '3'] })
  files = await mkdtemp(join(tmpdir(), 'coracle-'))
})
afterAll(async () => {
  await program[Symbol.asyncDispose]()
  await rm(files, { recursive: true, force: true })
})

/** A file with a controller `NAME` of pods `app: web, version: NAME`. */
async function fileOf(name: string, replicas?: number): Promise<string> {
  const { spec, ...rest } = controller(name, replicas ?? 1, { app: 'web', version: name }) as {
    readonly spec: { readonly replicas: number }
  }
  const { replicas: _, ...counted } = spec
  const path = join(files, `${name}.json`)
  await writeFile(path, JSON.stringify({ ...rest, spec: replicas === undefined ? counted : spec }))
  return path
}

class Track {
  readonly kubectl: Kubectl
  readonly namespace: string

  private constructor(kubectl: Kubectl, namespace: string) {
    this.kubectl = kubectl
    this.namespace = namespace
  }

  /** A namespace with a controller `one` of so many ready pods. */
  static async of(namespace: string, replicas: number): Promise<Track> {
    const kubectl = await Kubectl.inNewNamespace(program, namespace)
    await kubectl.create('replicationcontrollers', controller('one', replicas, { app: 'web', version: 'one' }))
    await kubectl.waitForReplicas('one', replicas)
    return new Track(kubectl, namespace)
  }

  coracle(...args: readonly string[]): Promise<Outcome> {
    return program.coracle(['-n', this.namespace, ...args])
  }

  /** What controllers there are, and how many pods each asks for. */
  async controllers(): Promise<Readonly<Record<string, number>>> {
    const items = await this.kubectl.list<ControllerObject>('replicationcontrollers')
    return Object.fromEntries(items.map(({ metadata, spec }) => [metadata.name, spec.replicas]))
  }

  /** All that an update has to do with, for a test that has failed. */
  async picture(): Promise<string> {
    const { stdout, stderr } = await this.coracle('get', 'rc,pods', '-o', 'wide', '--show-labels')
    return `${JSON.stringify(await this.kubectl.list<ControllerObject>('replicationcontrollers'))}\n${stdout}${stderr}`
  }

  async images(): Promise<readonly string[]> {
    const items = await this.kubectl.list<PodObject>('pods')
    return items
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ spec }) => spec.containers[0]?.image ?? '')
  }
}

const isReady = ({ metadata, status }: PodObject): boolean =>
  metadata.deletionTimestamp === undefined &&
  status.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true

/** Follows the pods of a namespace, and remembers the fewest that were ready at once. */
async function followReady(namespace: string) {
  const api = await Api.of(program)
  let fewest = Number.POSITIVE_INFINITY
  let isOver = false
  const done = (async () => {
    const path = `/api/v1/namespaces/${namespace}/pods`
    while (!isOver) {
      const { items } = (await api.object(path)) as { readonly items: readonly PodObject[] }
      fewest = Math.min(fewest, items.filter(isReady).length)
    }
  })()
  return {
    async end(): Promise<number> {
      isOver = true
      await done
      return fewest
    },
  }
}

describe('rolling-update', () => {
  it('replaces a controller by that of a file, one pod after another', async () => {
    const track = await Track.of('rolling-file', 3)
    const outcome = await track.coracle('rolling-update', 'one', '-f', await fileOf('two'), ...quick)
    expect(outcome).toEqual({
      code: 0,
      stderr: 'Note: Deployments are updated by the server itself: coracle rollout\n',
      stdout: [
        'Created two',
        'Scaling one down to 2',
        'Scaling two up to 2',
        'Scaling one down to 1',
        'Scaling two up to 3',
        'Scaling one down to 0',
        'Update succeeded. Deleting old controller: one',
        'replicationcontroller/two rolling updated',
        '',
      ].join('\n'),
    })
    expect(await track.controllers()).toEqual({ two: 3 })
  })

  it('shrinks to what the file asks for', async () => {
    const track = await Track.of('rolling-shrink', 3)
    await track.coracle('rollingupdate', 'one', '-f', await fileOf('two', 1), ...quick)
    expect(await track.controllers()).toEqual({ two: 1 })
  })

  it('changes an image, and keeps the name', async () => {
    const track = await Track.of('rolling-image', 2)
    const { code, stdout } = await track.coracle('rolling-update', 'one', '--image', 'example/web:2', ...quick)
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/\nRenaming one-\w+ to one\nreplicationcontroller\/one rolling updated\n$/),
    ])
    expect(await track.controllers()).toEqual({ one: 2 })
    await track.kubectl.waitForReplicas('one', 2)
    expect(await track.images()).toEqual(['example/web:2', 'example/web:2'])
    const again = await track.coracle('rolling-update', 'one', '--image', 'example/web:2', ...quick)
    expect(again.stderr).toContain('error: Specified --image must be distinct from existing container image\n')
    await track.coracle('rolling-update', 'one', 'named', '--image', 'example/web:3', ...quick)
    expect(await track.controllers()).toEqual({ named: 2 })
  })

  it('goes back', async () => {
    const track = await Track.of('rolling-back', 3)
    const two = await fileOf('two')
    const stopped = await track.coracle(
      'rolling-update',
      'one',
      '-f',
      two,
      ...quick,
      '--update-period',
      '1h',
      '--timeout',
      '1s',
      '--dry-run',
    )
    expect(stopped.stdout).toContain('Scaling two up to 3 (dry run)\n')
    // Half of an update, as one leaves it that was broken off.
    const half = { ...controller('two', 1, { app: 'web', version: 'two' }) } as { readonly metadata: object }
    const annotations = { 'kubectl.kubernetes.io/update-partner': 'one', 'kubectl.kubernetes.io/desired-replicas': '3' }
    await track.kubectl.create('replicationcontrollers', { ...half, metadata: { ...half.metadata, annotations } })
    await track.kubectl.waitForReplicas('two', 1)
    const { code, stdout } = await track.coracle('rolling-update', 'one', '-f', two, '--rollback', ...quick)
    expect([code, stdout]).toEqual([0, expect.stringContaining('Setting "one" replicas to 3\n')])
    expect(await track.controllers()).toEqual({ one: 3 })
  })

  it('stops at its timeout with both in place, and goes on from there', async () => {
    const track = await Track.of('rolling-timeout', 2)
    const path = await fileOf('two')
    // Nothing is scheduled, so nothing is ever ready.
    await program.kubectlOk(['cordon', 'node-0', 'node-1', 'node-2'])
    // On a busy machine it may be over before it was told of the first pod: then it is run again.
    await eventually('one of the new pods', async () => {
      const stopped = await track.coracle('rolling-update', 'one', '-f', path, ...quick, '--timeout', '300ms')
      expect([stopped.code, stopped.stderr]).toEqual([1, expect.stringContaining('timed out waiting for one and two')])
      return (await track.controllers()).two === 1
    })
    expect(await track.controllers()).toEqual({ one: 2, two: 1 })
    await program.kubectlOk(['uncordon', 'node-0', 'node-1', 'node-2'])
    const { code, stdout } = await track.coracle('rolling-update', 'one', '-f', path, ...quick)
    expect([code, stdout]).toEqual([0, expect.stringContaining('Found existing update in progress (two), resuming.\n')])
    expect(await track.controllers()).toEqual({ two: 2 })
  })

  it.each([
    ['nothing to update to', ['one'], 'Must specify a filename or new image'],
    ['nothing to update', [], 'Must specify the controller to update'],
    [
      'an image that it has',
      ['one', '--image', 'example/web:1'],
      'Specified --image must be distinct from existing container image',
    ],
    ['both', ['one', '--image', 'x', '-f', 'FILE'], "Image and filename can't both be specified"],
    ['its own name', ['one', 'one', '--image', 'x'], 'the new controller must have another name'],
    ['no controller', ['nobody', '--image', 'x'], 'replicationcontrollers "nobody" not found'],
  ])('refuses %s', async (_, args, message) => {
    await Track.of('rolling-refused', 0).catch(() => undefined)
    const file = await fileOf('two')
    const given = args.map((arg) => (arg === 'FILE' ? file : arg))
    const { code, stderr } = await program.coracle(['-n', 'rolling-refused', 'rolling-update', ...given, ...quick])
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)])
  })

  it('refuses a file whose pods could not be told apart', async () => {
    const track = await Track.of('rolling-alike', 0)
    const path = join(files, 'alike.json')
    await writeFile(path, JSON.stringify(controller('alike', 1, { app: 'web', version: 'one' })))
    const { stderr } = await track.coracle('rolling-update', 'one', '-f', path, ...quick)
    expect(stderr).toContain(`${path} must specify a matching key with non-equal value in Selector for one\n`)
  })

  it.each([
    ['a file', async () => ['-f', await fileOf('two')], 'two'],
    ['an image', async () => ['--image', 'example/web:2'], 'one'],
  ])(
    'killed anywhere and run again, ends with all of the new and never has fewer than nine of ten serving: %s',
    async (form, source, name) => {
      for (let update = 0; update < updates; update++) {
        const track = await Track.of(`rolling-killed-${name}-${update}`, 10)
        const args = ['-n', track.namespace, 'rolling-update', 'one', ...(await source()), ...quick]
        const ready = await followReady(track.namespace)
        const runs: string[] = []
        for (let kill = 0; kill < kills; kill++) {
          const timeoutMs = 300 + (((update * kills + kill) * 397) % 900)
          runs.push(described(await program.coracle(args, { timeoutMs, killSignal: 'SIGKILL' }), timeoutMs))
        }
        // Its own limits end it first, and say so.
        const last = await program.coracle(args, { timeoutMs: lastRunMs })
        runs.push(described(last, lastRunMs))
        // An update that an earlier run has ended has nothing to change.
        const isOver = form === 'an image' && last.code === 1 && last.stderr.includes('must be distinct')
        const left = await track.controllers()
        if (!((last.code === 0 || isOver) && isDeepStrictEqual(left, { [name]: 10 }))) {
          expect.fail([`coracle ${args.join(' ')}`, ...runs, await track.picture()].join('\n'))
        }
        await track.kubectl.waitForReplicas(name, 10)
        expect(await ready.end()).toBeGreaterThanOrEqual(9)
        await eventually('the old pods to go', async () => (await track.images()).length === 10)
        if (form === 'an image') expect(new Set(await track.images())).toEqual(new Set(['example/web:2']))
        await program.kubectlOk(['delete', 'namespace', track.namespace, '--wait=false'])
      }
    },
    2 * lastRunMs * updates,
  )
})

const described = ({ code, signal, stdout, stderr }: Outcome, timeoutMs: number): string =>
  `--- exit code ${code}, signal ${signal}, of at most ${timeoutMs} ms\n${stdout}${stderr}`

describe('resize and stop', () => {
  it('resizes only where it is as it is expected to be, and says what it found', async () => {
    const track = await Track.of('resized', 2)
    const refused = await track.coracle('resize', 'rc', 'one', '--replicas', '3', '--current-replicas', '1')
    expect([refused.code, refused.stderr]).toEqual([1, 'error: Expected replicas to be 1, was 2\n'])
    expect(await track.controllers()).toEqual({ one: 2 })
    const { stdout } = await track.coracle(
      'resize',
      'rc',
      'one',
      '--replicas',
      '3',
      '--current-replicas',
      '2',
      '--timeout',
      '30s',
    )
    expect(stdout).toBe('replicationcontroller/one scaled\n')
    expect(await track.controllers()).toEqual({ one: 3 })
  })

  it('stops: no pods, then no controller', async () => {
    const track = await Track.of('stopped', 2)
    expect((await track.coracle('stop', 'rc', 'one')).stdout).toBe('replicationcontroller "one" stopped\n')
    expect(await track.controllers()).toEqual({})
    expect(await track.images()).toEqual([])
  })
})
