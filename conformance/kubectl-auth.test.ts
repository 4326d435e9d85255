import { afterAll, beforeAll, expect, it } from 'vitest'
import { Kubectl, rows } from './support/kubectl.ts'
import { Program } from './support/program.ts'

let program: Program
let kubectl: Kubectl

beforeAll(async () => {
  program = await Program.start({ args: ['--memory', '--runtime', 'simulated', '--nodes', '1'] })
  kubectl = await Kubectl.inNewNamespace(program, 'rights')
})
afterAll(() => program[Symbol.asyncDispose]())

const scheduler = ['--as', 'system:kube-scheduler']

it('auth whoami tells who asks, and who somebody is taken for', async () => {
  const own = rows(await kubectl.ok(['auth', 'whoami']))
  expect(own).toContainEqual(['Username', 'kubernetes-admin'])
  const other = rows(await kubectl.ok(['auth', 'whoami', '--as', 'jane', '--as-group', 'ops', '--as-uid', '7']))
  expect(other).toEqual([
    ['ATTRIBUTE', 'VALUE'],
    ['Username', 'jane'],
    ['UID', '7'],
    ['Groups', '[ops system:authenticated]'],
  ])
})

it.each([
  [['list', 'pods'], 'yes'],
  [['create', 'pods', '--subresource', 'binding'], 'yes'],
  [['create', 'deployments.apps'], 'no'],
  [['get', '/healthz'], 'yes'],
  [['*', '*'], 'no'],
] as const)('auth can-i %j', async (asked, answer) => {
  expect((await kubectl.ok(['auth', 'can-i', ...asked])).trim()).toBe('yes')
  const { stdout } = await kubectl.run(['auth', 'can-i', ...asked, ...scheduler])
  expect(stdout.trim().split('\n')[0]).toBe(answer)
})

it('auth can-i --list shows what is granted', async () => {
  const own = rows(await kubectl.ok(['auth', 'can-i', '--list']))
  expect(own).toContainEqual(['*.*', '[]', '[]', '[*]'])
  const listed = rows(await kubectl.ok(['auth', 'can-i', '--list', ...scheduler]))
  expect(listed).toContainEqual(['pods/binding', '[]', '[]', '[create]'])
  expect(listed).toContainEqual(['selfsubjectreviews.authentication.k8s.io', '[]', '[]', '[create]'])
})

it('create token gives what makes one a service account', async () => {
  const token = (await kubectl.ok(['create', 'token', 'default'])).trim()
  const own = rows(await kubectl.ok(['auth', 'whoami', '--token', token]))
  expect(own).toContainEqual(['Username', 'system:serviceaccount:rights:default'])
  expect(await kubectl.ok(['get', '--raw', '/openid/v1/jwks'])).toContain('"ES256"')
})

it('create -f asks about others', async () => {
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: {
      user: 'system:kube-scheduler',
      resourceAttributes: { verb: 'delete', resource: 'pods', namespace: 'rights' },
    },
  }
  const answer = await kubectl.ok(['create', '-f', '-', '-o', 'jsonpath={.status.allowed}'], {
    input: JSON.stringify(review),
  })
  expect(answer).toBe('true')
})
