import { afterAll, beforeAll, expect, it } from 'vitest'
import { controller, Kubectl, rows } from './support/kubectl.ts'
import { ManifestFiles } from './support/manifest-files.ts'
import { eventually, Program } from './support/program.ts'

let program: Program
let namespaces = 0
const inNewNamespace = () => Kubectl.inNewNamespace(program, `endpoints-${namespaces++}`)

beforeAll(async () => {
  program = await Program.start({ args: ['--memory', '--runtime', 'simulated', '--nodes', '2'] })
})
afterAll(() => program[Symbol.asyncDispose]())

const lines = (text: string): readonly string[] => text.split('\n').map((line) => line.replace(/\s+/g, ' ').trim())

it('the service kubernetes has the server behind it', async () => {
  const kubectl = await inNewNamespace()
  const url = await kubectl.ok(['config', 'view', '-o', 'jsonpath={.clusters[0].cluster.server}'])
  const { host, port } = new URL(url)
  const described = await eventually('the server to be behind it', async () => {
    const text = lines(await kubectl.ok(['describe', 'service', 'kubernetes', '-n', 'default']))
    return text.some((line) => line === `Endpoints: ${host}`) ? text : undefined
  })
  for (const line of ['Labels: component=apiserver', 'IP: 10.96.0.1', 'Port: https 443/TCP']) {
    expect(described).toContain(line)
  }
  expect(rows(await kubectl.ok(['get', 'endpoints', 'kubernetes', '-n', 'default']))[1]?.slice(0, 2)).toEqual([
    'kubernetes',
    host,
  ])
  const slices = rows(await kubectl.ok(['get', 'endpointslices', '-n', 'default']))
  expect(slices.slice(1).map((row) => row.slice(0, 3))).toEqual([['kubernetes', 'IPv4', port]])
})

it('addresses of services are shown with whom they belong to, and go with the services', async () => {
  const kubectl = await inNewNamespace()
  await kubectl.ok(['create', 'service', 'nodeport', 'web', '--tcp=80', '--node-port=30123'])
  const ip = await kubectl.ok(['get', 'service', 'web', '-o', 'jsonpath={.spec.clusterIP}'])
  expect(rows(await kubectl.ok(['get', 'ipaddress', ip]))[1]).toEqual([ip, `services/${kubectl.namespace}/web`])
  const { stderr } = await kubectl.run(['create', 'service', 'nodeport', 'other', '--tcp=80', '--node-port=30123'])
  expect(stderr).toContain('spec.ports[0].nodePort: Invalid value: 30123: provided port is already allocated')
  await kubectl.ok(['delete', 'service', 'web'])
  expect((await kubectl.run(['get', 'ipaddress', ip])).stderr).toContain('not found')
  await kubectl.ok(['create', 'service', 'nodeport', 'other', '--tcp=80', '--node-port=30123'])
  const [, range] = rows(await kubectl.ok(['get', 'servicecidr', 'kubernetes']))
  expect(range?.slice(0, 2)).toEqual(['kubernetes', '10.96.0.0/12'])
})

it('endpoints that somebody writes have slices', async () => {
  const kubectl = await inNewNamespace()
  await using files = await ManifestFiles.create()
  const metadata = { name: 'db' }
  const path = await files.write(
    'db.yaml',
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [{ port: 5432 }] } },
    {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata,
      subsets: [{ addresses: [{ ip: '192.0.2.7' }], ports: [{ port: 5432 }] }],
    },
  )
  await kubectl.ok(['create', '-f', path])
  await eventually('the slice', async () => {
    const found = rows(await kubectl.ok(['get', 'endpointslices', '-l', 'kubernetes.io/service-name=db']))
    return found.some((row) => row.slice(1, 4).join(' ') === 'IPv4 5432 192.0.2.7') ? true : undefined
  })
})

it('expose, and what is behind a service as its pods come and go', async () => {
  const kubectl = await inNewNamespace()
  await kubectl.create('replicationcontrollers', controller('web', 3))
  await kubectl.ok(['expose', 'rc', 'web', '--port=80', '--target-port=8080', '--type=NodePort'])
  const count = async () => {
    const text = await kubectl.ok(['get', 'endpoints', 'web', '-o', 'jsonpath={.subsets[*].addresses[*].ip}'])
    return text.split(' ').filter((ip) => ip !== '').length
  }
  await eventually('three endpoints', async () => ((await count()) === 3 ? true : undefined))
  await kubectl.ok(['scale', 'rc', 'web', '--replicas=1'])
  await eventually('one endpoint', async () => ((await count()) === 1 ? true : undefined))
})

it('component statuses tell how the parts of the program are', async () => {
  const kubectl = await inNewNamespace()
  const { stdout, stderr } = await kubectl.run(['get', 'cs'])
  expect(stderr).toContain('v1 ComponentStatus is deprecated in v1.19+')
  expect(rows(stdout).map((row) => row.slice(0, 3))).toEqual([
    ['NAME', 'STATUS', 'MESSAGE'],
    ['controller-manager', 'Healthy', 'ok'],
    ['etcd-0', 'Healthy', 'ok'],
    ['scheduler', 'Healthy', 'ok'],
  ])
})
