import { afterAll, beforeAll, expect, it } from 'vitest'
import { controller, Kubectl, rows } from './support/kubectl.ts'
import { eventually, Program } from './support/program.ts'

let program: Program
let namespaces = 0
const inNewNamespace = () => Kubectl.inNewNamespace(program, `services-${namespaces++}`)

beforeAll(async () => {
  program = await Program.start({ args: ['--memory', '--runtime', 'simulated', '--nodes', '2'] })
})
afterAll(() => program[Symbol.asyncDispose]())

const lines = (text: string): readonly string[] => text.split('\n').map((line) => line.replace(/\s+/g, ' ').trim())

it('expose gives the pods of a controller an address, and describe shows what is behind it', async () => {
  const kubectl = await inNewNamespace()
  await kubectl.create('replicationcontrollers', controller('web', 2))
  expect(await kubectl.ok(['expose', 'rc', 'web', '--port=80', '--target-port=8080'])).toBe('service/web exposed\n')
  const [header, row] = rows(await kubectl.ok(['get', 'services', 'web']))
  expect(header).toEqual(['NAME', 'TYPE', 'CLUSTER-IP', 'EXTERNAL-IP', 'PORT(S)', 'AGE'])
  expect(row?.slice(0, 2)).toEqual(['web', 'ClusterIP'])
  expect(row?.[2]).toMatch(/^10\./)
  await eventually('two endpoints', async () => {
    const described = lines(await kubectl.ok(['describe', 'service', 'web']))
    return described.some((line) => /^Endpoints: \S+:8080,\S+:8080$/.test(line)) ? described : undefined
  })
  const slices = rows(await kubectl.ok(['get', 'endpointslices', '-l', 'kubernetes.io/service-name=web']))
  expect(slices[0]).toEqual(['NAME', 'ADDRESSTYPE', 'PORTS', 'ENDPOINTS', 'AGE'])
  expect(slices[1]?.slice(1, 3)).toEqual(['IPv4', '8080'])
})

it('create quota limits what there may be, and describe shows what is used', async () => {
  const kubectl = await inNewNamespace()
  expect(await kubectl.ok(['create', 'quota', 'team', '--hard=secrets=1,count/configmaps=5'])).toBe(
    'resourcequota/team created\n',
  )
  const describe = async () => lines(await kubectl.ok(['describe', 'quota', 'team']))
  await eventually('the quota to be counted', async () =>
    (await describe()).includes('secrets 0 1') ? true : undefined,
  )
  await kubectl.ok(['create', 'secret', 'generic', 'a', '--from-literal=k=v'])
  expect(await describe()).toContain('secrets 1 1')
  const { stderr } = await kubectl.run(['create', 'secret', 'generic', 'b', '--from-literal=k=v'])
  expect(stderr).toContain('exceeded quota: team, requested: secrets=1, used: secrets=1, limited: secrets=1')
})

it('objects that charts bring are created and shown', async () => {
  const kubectl = await inNewNamespace()
  await kubectl.ok(['create', 'role', 'reader', '--verb=get,list', '--resource=pods'])
  await kubectl.ok(['create', 'rolebinding', 'readers', '--role=reader', '--serviceaccount=default:a'])
  await kubectl.ok(['create', 'ingress', 'web', '--rule=example.com/*=web:80', '--class=edge'])
  await kubectl.ok(['create', 'priorityclass', 'high', '--value=1000'])
  expect(rows(await kubectl.ok(['get', 'rolebinding', 'readers', '-o', 'wide']))[1]?.slice(0, 2)).toEqual([
    'readers',
    'Role/reader',
  ])
  expect(rows(await kubectl.ok(['get', 'ingress', 'web']))[1]?.slice(0, 3)).toEqual(['web', 'edge', 'example.com'])
  expect(rows(await kubectl.ok(['get', 'priorityclass', 'high']))[1]?.slice(0, 3)).toEqual(['high', '1000', 'false'])
  expect(lines(await kubectl.ok(['describe', 'role', 'reader']))).toContain('pods [] [] [get list]')
  expect(lines(await kubectl.ok(['describe', 'ingress', 'web']))).toContain('Ingress Class: edge')
})
