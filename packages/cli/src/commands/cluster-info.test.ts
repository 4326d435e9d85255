import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { services } from '@coracle/api'
import { type Cluster, startCluster } from '@coracle/cluster'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCommand } from '../testing/recording-host.ts'

let directory: string
let cluster: Cluster

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'cluster-info-'))
  cluster = await startCluster({ dataDir: join(directory, '.coracle'), store: 'memory', runtime: 'simulated' })
})

afterAll(async () => {
  await cluster.stop()
  await rm(directory, { recursive: true, force: true })
})

const coracle = (...args: readonly string[]) => runCommand(args, { workingDirectory: directory })

it('says where the control plane and the services of the cluster are', async () => {
  const labels = { 'kubernetes.io/cluster-service': 'true', 'kubernetes.io/name': 'CoreDNS' }
  await cluster.client.create(services, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'kube-dns', namespace: 'kube-system', labels },
    spec: { ports: [{ name: 'dns', port: 53, protocol: 'UDP' }] },
  } as never)
  const { stdout } = await coracle('cluster-info')
  const [server = ''] = /https:\S+/.exec(stdout) ?? []
  expect(stdout).toBe(`Kubernetes control plane is running at ${server}
CoreDNS is running at ${server}/api/v1/namespaces/kube-system/services/kube-dns:dns/proxy

To further debug and diagnose cluster problems, use 'coracle cluster-info dump'.
`)
})

it('writes down what there is', async () => {
  const { code, stdout } = await coracle('cluster-info', 'dump', '--namespaces=kube-public', '--output-directory=dump')
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'Cluster info dumped to dump\n' })
  expect((await readdir(join(directory, 'dump', 'kube-public'))).sort()).toEqual([
    'daemonsets.json',
    'deployments.json',
    'events.json',
    'pods.json',
    'replicasets.json',
    'replication-controllers.json',
    'services.json',
  ])
  const nodes = JSON.parse(await readFile(join(directory, 'dump', 'nodes.json'), 'utf8'))
  expect(nodes).toMatchObject({ kind: 'NodeList', apiVersion: 'v1', items: [{ metadata: { name: 'node-0' } }] })
})

it('dumps to standard output, with the logs of pods', async () => {
  await coracle('run', 'web', '--image=web')
  await coracle('wait', '--for=condition=Ready', 'pod/web')
  const { stdout } = await coracle('cluster-info', 'dump', '-o', 'yaml')
  expect(stdout).toContain('kind: NodeList')
  expect(stdout).toContain('==== START logs for container web of pod default/web ====')
})

it('lists the options of every command', async () => {
  const { stdout } = await coracle('options')
  expect(stdout).toMatch(/^The following options can be passed to any command:\n\n/)
  expect(stdout).toMatch(/^ {2}-n, --namespace <name> +\S/m)
})
