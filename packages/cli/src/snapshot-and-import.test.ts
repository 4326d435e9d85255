import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { configMaps, type KubernetesObject, replicationControllers } from '@coracle/api'
import { type Cluster, readStoredState, startCluster } from '@coracle/cluster'
import { realEnvironment } from '@coracle/environment'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run } from './program.ts'
import { recordingHost, runCommand } from './testing/recording-host.ts'

// A cluster that stands for any Kubernetes, and what is made of its objects in a directory beside it.

let directory: string
let source: Cluster

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'snapshot-'))
  source = await startCluster({ dataDir: join(directory, 'source'), nodes: 2, nodePrefix: 'far-' })
  const metadata = { name: 'web', namespace: 'default' }
  await source.client.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { key: 'value' } })
  await source.client.create(replicationControllers, {
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata,
    spec: {
      replicas: 3,
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'example/web' }] } },
    },
  })
  expect((await coracle('wait --for=jsonpath={.status.readyReplicas}=3 rc/web')).code).toBe(0)
  await source.client.create(webhooks, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'checks' },
    webhooks: [],
  } as KubernetesObject)
})

afterAll(async () => {
  await source.stop()
  await rm(directory, { recursive: true, force: true })
})

const webhooks = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'ValidatingWebhookConfiguration',
  plural: 'validatingwebhookconfigurations',
  namespaced: false,
}

/** Runs a command that means the source. */
const coracle = (line: string) =>
  runCommand(['--kubeconfig', 'source/kubeconfig', ...line.split(' ')], { workingDirectory: directory })

const storedIn = (...path: readonly string[]): Promise<readonly KubernetesObject[]> =>
  readStoredState(realEnvironment(), join(directory, ...path), async ({ pages }) => {
    const objects: KubernetesObject[] = []
    for await (const page of pages) objects.push(...page)
    return objects
  })

const uidsOf = (objects: readonly KubernetesObject[], kind: string) =>
  objects.flatMap((object) => (object.kind === kind ? [object.metadata.uid] : [])).sort()

/** Saves the source to a file, and restores that under the same name. */
async function savedAndRestored(name: string): Promise<void> {
  expect((await coracle(`snapshot save ${name}.snapshot`)).code).toBe(0)
  expect((await coracle(`snapshot restore ${name}.snapshot --name ${name}`)).code).toBe(0)
}

describe('snapshot', () => {
  it('saves a running cluster to one file for its owner alone, and restores it with its uids', async () => {
    const { code, stdout, stderr } = await coracle('snapshot save all.snapshot')
    expect([code, stderr]).toEqual([0, ''])
    const file = join(directory, 'all.snapshot')
    expect(((await stat(file)).mode & 0o777).toString(8)).toBe('600')
    const lines = gunzipSync(await readFile(file))
      .toString()
      .trimEnd()
      .split('\n')
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ format: 'coracle.dev/snapshot', source: source.url })
    expect(stdout).toBe(`${lines.length - 2} objects saved to all.snapshot\n`)

    expect(await coracle('snapshot restore all.snapshot --name again')).toEqual({
      code: 0,
      stdout: `${lines.length - 2} objects restored into .coracle/clusters/again: start it with \`coracle up --name again\`\n`,
      stderr: '',
    })
    const restored = await storedIn('.coracle', 'clusters', 'again')
    expect(restored).toHaveLength(lines.length - 2)
    const saved = lines.slice(1, -1).map((text) => JSON.parse(text) as KubernetesObject)
    expect(uidsOf(restored, 'Pod')).toEqual(uidsOf(saved, 'Pod'))
    expect(uidsOf(restored, 'Pod')).toHaveLength(3)

    // The same once more would have other objects go.
    expect((await coracle('snapshot restore all.snapshot --name again')).stderr).toBe(
      'error: .coracle/clusters/again has objects of a cluster already: choose another place with --name, or give --overwrite to have them go\n',
    )
    expect((await coracle('snapshot restore all.snapshot --name again --overwrite')).code).toBe(0)
  })

  it('touches no file beside the one it writes', async () => {
    await writeFile(join(directory, 'aside.snapshot.new'), 'mine')
    expect((await coracle('snapshot save aside.snapshot')).code).toBe(0)
    expect(await readFile(join(directory, 'aside.snapshot.new'), 'utf8')).toBe('mine')
    expect((await readdir(directory)).filter((name) => name.startsWith('aside'))).toHaveLength(2)
  })

  it('saves a cluster that does not run from its directory', async () => {
    await savedAndRestored('second')
    expect((await coracle('snapshot save stopped.snapshot --name second')).stdout).toMatch(/^\d+ objects saved to /)
    expect((await coracle('snapshot restore stopped.snapshot --name third')).code).toBe(0)
    const [second, third] = [
      await storedIn('.coracle', 'clusters', 'second'),
      await storedIn('.coracle', 'clusters', 'third'),
    ]
    expect(uidsOf(third, 'ConfigMap')).toEqual(uidsOf(second, 'ConfigMap'))
    expect(third).toHaveLength(second.length)
  })

  it.each([
    ['missing.snapshot', undefined, /^error: cannot read .*missing.snapshot: ENOENT/],
    ['text.snapshot', 'hello', /^error: text.snapshot: it is no snapshot\n$/],
    ['empty.snapshot', '', /^error: empty.snapshot: it is no snapshot\n$/],
  ])('is not restored from %s', async (name, text, message) => {
    if (text !== undefined) await writeFile(join(directory, name), text)
    const { code, stderr } = await coracle(`snapshot restore ${name} --name never`)
    expect([code, stderr]).toEqual([1, expect.stringMatching(message)])
  })

  it('is not restored from a file that was cut short', async () => {
    await savedAndRestored('whole')
    const bytes = await readFile(join(directory, 'whole.snapshot'))
    await writeFile(join(directory, 'short.snapshot'), bytes.subarray(0, bytes.length - 100))
    expect((await coracle('snapshot restore short.snapshot --name whole --overwrite')).stderr).toMatch(
      /^error: short.snapshot: it is not as it was written: /,
    )
    expect(uidsOf(await storedIn('.coracle', 'clusters', 'whole'), 'Pod')).toHaveLength(3)
  })
})

describe('import', () => {
  it('brings all but what would reach out of the copy, and says what', async () => {
    const { code, stdout, stderr } = await coracle('import --without-secrets')
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(
      new RegExp(
        `^\\d+ objects of ${source.url} imported into .coracle/clusters/imported: start it with .coracle up --name imported.\n`,
      ),
    )
    expect(stdout).toContain('left out on purpose: Events\n')
    expect(stdout).toMatch(/left out on purpose: \d+ Leases: /)
    expect(stdout).toContain(
      'left out on purpose: 1 ValidatingWebhookConfigurations: nobody answers them in the copy\n',
    )
    const kinds = new Set((await storedIn('.coracle', 'clusters', 'imported')).map(({ kind }) => kind))
    expect(kinds).toContain('ReplicationController')
    for (const kind of ['Lease', 'Event', 'Secret', 'ValidatingWebhookConfiguration']) expect(kinds).not.toContain(kind)
  })

  it('makes a cluster whose nodes and pods go on as they are, and never as processes', async () => {
    expect((await coracle('import --without-secrets --name copy')).code).toBe(0)
    const { items: pods } = JSON.parse((await coracle('get pods -o json')).stdout)
    expect((await coracle('up --name copy --runtime process --port 0')).stderr).toBe(
      `error: .coracle/clusters/copy was imported from ${source.url}: its pods would become processes of this host; leave --runtime out\n`,
    )
    const ready = Promise.withResolvers<void>()
    const host = recordingHost({
      workingDirectory: directory,
      onOutput: (text) => text.includes('ready') && ready.resolve(),
    })
    const ended = run(['up', '--name', 'copy', '--port', '0'], host)
    await ready.promise
    const copy = (line: string) =>
      runCommand(['--context', 'copy', ...line.split(' ')], { workingDirectory: directory })
    expect((await copy('get nodes -o name')).stdout).toBe('node/far-0\nnode/far-1\n')
    const copied = JSON.parse((await copy('get pods -o json')).stdout).items
    const restarts = ({ metadata, status }: (typeof copied)[number]) => [
      metadata.uid,
      status.containerStatuses[0].restartCount,
    ]
    expect(copied.map(restarts)).toEqual(pods.map(restarts))
    // Its controllers are at work, and the source knows nothing of it.
    expect((await copy('scale rc/web --replicas=1')).code).toBe(0)
    expect((await copy('wait --for=jsonpath={.status.replicas}=1 rc/web')).code).toBe(0)
    expect((await coracle('get pods -o name')).stdout.split('\n')).toHaveLength(4)
    host.interrupt()
    expect(await ended).toBe(0)
  })

  it('brings nothing where what comes cannot be marked as a copy, whose pods are never processes', async () => {
    const place = join(directory, '.coracle', 'clusters', 'unmarked')
    await mkdir(join(place, 'imported.json'), { recursive: true })
    expect((await coracle('import --name unmarked')).code).toBe(1)
    await expect(readStoredState(realEnvironment(), place, async () => {})).rejects.toThrow('has no objects on disk')
  })

  it('brings nothing where nothing may be read', async () => {
    const { code, stderr } = await coracle('import --as nobody --name none')
    expect([code, stderr]).toEqual([1, expect.stringContaining('no object of the cluster may be read')])
  })
})
