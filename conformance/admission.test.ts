import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  startTestWebhook,
  type TestWebhook,
  webhookConfiguration,
  webhookOf,
} from '../packages/apiserver/src/testing/test-webhook.ts'
import { rows } from './support/kubectl.ts'
import { eventually, Program, run } from './support/program.ts'
import { thriftyTools, tools } from './support/tools.ts'

// Webhooks and policies that judge and change what kubectl and Helm write.

let program: Program
const kubectl = (...args: readonly string[]) => program.kubectlOk(args)
const apply = (object: object, ...more: readonly string[]) =>
  program.kubectl(['apply', '-f', '-', ...more], { input: JSON.stringify(object) })

beforeAll(async () => {
  program = await Program.start({ args: ['--memory', '--nodes', '0'] })
})
afterAll(() => program[Symbol.asyncDispose]())
afterEach(() =>
  kubectl(
    'delete',
    [
      ...['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
      ...['validatingadmissionpolicybindings', 'validatingadmissionpolicies'],
      ...['mutatingadmissionpolicybindings', 'mutatingadmissionpolicies'],
    ].join(),
    '--all',
  ),
)

const pod = (name: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...more },
  spec: { containers: [{ name: 'main', image: 'nginx' }] },
})

const podsOnly = {
  rules: [{ operations: ['CREATE', 'UPDATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
}

async function configure(kind: 'Mutating' | 'Validating', webhook: TestWebhook, more: object = {}): Promise<void> {
  const configuration = webhookConfiguration(
    `${kind}WebhookConfiguration`,
    'ours',
    webhookOf(webhook, { ...podsOnly, ...more }),
  )
  const { code, stderr } = await apply(configuration)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
}

describe('webhooks', () => {
  it('are listed and explained', async () => {
    await configure('Validating', await startTestWebhook())
    const [header, row] = rows(await kubectl('get', 'validatingwebhookconfigurations'))
    expect(header).toEqual(['NAME', 'WEBHOOKS', 'AGE'])
    expect(row?.slice(0, 2)).toEqual(['ours', '1'])
    expect(await kubectl('explain', 'mutatingwebhookconfigurations.webhooks.reinvocationPolicy')).toContain('<string>')
  })

  it('refuse what is applied, in their own words, and warn', async () => {
    const webhook = await startTestWebhook(({ object }) => ({
      allowed: object.metadata.labels?.team !== undefined,
      status: { code: 403, reason: 'Forbidden', message: 'pods need a team' },
      warnings: ['teams are checked'],
    }))
    await configure('Validating', webhook)
    const refused = await apply(pod('web'))
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain(
      'Error from server (Forbidden): error when creating "STDIN": admission webhook "check.example.com" denied the request: pods need a team',
    )
    expect(refused.stderr).toContain('Warning: teams are checked')
    const accepted = await apply(pod('web', { labels: { team: 'a' } }))
    expect([accepted.stdout, accepted.stderr]).toEqual(['pod/web created\n', 'Warning: teams are checked\n'])
  })

  it('are named where a controller is refused', async () => {
    const webhook = await startTestWebhook(() => ({
      allowed: false,
      status: { code: 403, reason: 'Forbidden', message: 'no pods on Sundays' },
    }))
    await configure('Validating', webhook)
    await kubectl('create', 'deployment', 'refused', '--image=nginx')
    const told = await eventually('the reason', async () => {
      const { stdout } = await program.coracle(['why', 'deployment/refused'])
      return stdout.includes('denied the request') && stdout
    })
    expect(told).toMatch(
      /^deployment\/refused.*: its pods cannot be created\n {2}admission webhook "\S+" denied the request: no pods on Sundays\n {2}→ change what webhook \S+ refuses, or ask whoever runs it$/m,
    )
    await kubectl('delete', 'deployment', 'refused')
  })

  it('add to what is applied, by the client or by the server, and applying again changes nothing', async () => {
    const sidecar = { name: 'proxy', image: 'envoy' }
    const webhook = await startTestWebhook(({ object }) =>
      object.spec.containers.some(({ name }: { readonly name: string }) => name === 'proxy')
        ? {}
        : { patch: [{ op: 'add', path: '/spec/containers/-', value: sidecar }] },
    )
    await configure('Mutating', webhook)
    for (const [name, flags] of [
      ['side', ['--server-side']],
      ['client', []],
    ] as const) {
      expect((await apply(pod(name), ...flags)).code).toBe(0)
      const names = () => kubectl('get', 'pod', name, '-o', 'jsonpath={.spec.containers[*].name}')
      expect(await names()).toBe('main proxy')
      const again = await apply(pod(name), ...flags)
      expect({ code: again.code, stderr: again.stderr }).toEqual({ code: 0, stderr: '' })
      expect(await names()).toBe('main proxy')
    }
  })

  it('that cannot be reached keep nothing from being mended', async () => {
    await configure('Validating', {
      ...(await startTestWebhook()),
      clientConfig: { url: 'https://127.0.0.1:1/', caBundle: '' },
    })
    const { code, stderr } = await apply(pod('lost'))
    expect(code).toBe(1)
    expect(stderr).toContain(
      'failed calling webhook "check.example.com": failed to call webhook: Post "https://127.0.0.1:1/?timeout=10s"',
    )
    expect(await kubectl('delete', 'validatingwebhookconfigurations', 'ours')).toContain('deleted')
    expect((await apply(pod('lost'))).code).toBe(0)
  })
})

describe('policies', () => {
  const apiVersion = 'admissionregistration.k8s.io/v1'
  const rule = { operations: ['CREATE', 'UPDATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }
  const policy = {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'small' },
    spec: {
      matchConstraints: { resourceRules: [rule] },
      validations: [{ expression: 'size(object.data) < 2', messageExpression: "'has ' + string(size(object.data))" }],
    },
  }
  const binding = (validationActions: readonly string[]) => ({
    apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: 'everywhere' },
    spec: { policyName: 'small', validationActions },
  })
  const settings = (name: string) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
    data: { a: '1', b: '2' },
  })

  it('refuse what is applied or warn about it, as their binding says', async () => {
    expect((await apply(policy)).stderr).toBe('')
    expect((await apply(binding(['Deny']))).stderr).toBe('')
    const shown = async (kind: string) => rows(await kubectl('get', kind)).map((row) => row.slice(0, 3))
    expect(await shown('validatingadmissionpolicies')).toEqual([
      ['NAME', 'VALIDATIONS', 'PARAMKIND'],
      ['small', '1', '<unset>'],
    ])
    expect(await shown('validatingadmissionpolicybindings')).toEqual([
      ['NAME', 'POLICYNAME', 'PARAMREF'],
      ['everywhere', 'small', '<unset>'],
    ])
    const refused = await apply(settings('a'))
    expect([refused.code, refused.stderr]).toEqual([
      1,
      `The configmaps "a" is invalid: : ValidatingAdmissionPolicy 'small' with binding 'everywhere' denied request: has 2\n`,
    ])
    await apply(binding(['Warn', 'Audit']))
    const warned = await apply(settings('a'))
    expect([warned.stdout, warned.stderr]).toEqual([
      'configmap/a created\n',
      "Warning: Validation failed for ValidatingAdmissionPolicy 'small' with binding 'everywhere': has 2\n",
    ])
  })
})

it('the status of a policy tells which expressions do not fit the kinds they are about', async () => {
  const rule = { operations: ['*'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'] }
  const spec = {
    matchConstraints: { resourceRules: [rule] },
    validations: [{ expression: 'object.spec.replicas < 5' }, { expression: 'object.replicas > 1' }],
  }
  const kind = 'ValidatingAdmissionPolicy'
  await apply({ apiVersion: 'admissionregistration.k8s.io/v1', kind, metadata: { name: 'typed' }, spec })
  await kubectl(
    'wait',
    '--for=jsonpath={.status.observedGeneration}=1',
    'validatingadmissionpolicy/typed',
    '--timeout=50s',
  )
  const warnings = '{range .status.typeChecking.expressionWarnings[*]}{.fieldRef} {.warning}{end}'
  expect(await kubectl('get', 'validatingadmissionpolicy', 'typed', '-o', `jsonpath=${warnings}`)).toBe(
    [
      "spec.validations[1].expression apps/v1, Kind=Deployment: ERROR: <input>:1:7: undefined field 'replicas'",
      ' | object.replicas > 1',
      ' | ......^',
      '',
    ].join('\n'),
  )
})

describe('Helm', () => {
  it('tells why a chart was refused', async () => {
    const webhook = await startTestWebhook(() => ({ allowed: false, status: { message: 'not in this cluster' } }))
    const everything = [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }]
    await configure('Validating', webhook, { rules: everything })
    const home = await mkdtemp(join(tmpdir(), 'coracle-'))
    try {
      const chart = join(home, 'shop')
      await mkdir(join(chart, 'templates'), { recursive: true })
      await writeFile(join(chart, 'Chart.yaml'), 'apiVersion: v2\nname: shop\nversion: 1.0.0\n')
      const settings = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata:\n  colour: blue\n'
      await writeFile(join(chart, 'templates', 'settings.yaml'), settings)
      const helmHome = { HOME: home, HELM_CACHE_HOME: home, HELM_CONFIG_HOME: home }
      const env = { ...thriftyTools, ...helmHome, KUBECONFIG: program.kubeconfig }
      const { code, stderr } = await run((await tools()).helm, ['install', 'shop', chart], { env })
      expect(code).toBe(1)
      expect(stderr).toContain('admission webhook "check.example.com" denied the request: not in this cluster')
    } finally {
      await rm(home, { recursive: true, force: true })
    }
  })
})

describe('mutating policies', () => {
  it('change what kubectl applies', async () => {
    const rule = { operations: ['CREATE', 'UPDATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }
    const side = 'Object.spec.initContainers{name: "mesh", image: "mesh", restartPolicy: "Always"}'
    const policy = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingAdmissionPolicy',
      metadata: { name: 'sidecar' },
      spec: {
        matchConstraints: { resourceRules: [rule] },
        matchConditions: [
          { name: 'once', expression: '!object.spec.?initContainers.orValue([]).exists(c, c.name == "mesh")' },
        ],
        failurePolicy: 'Fail',
        reinvocationPolicy: 'IfNeeded',
        mutations: [
          {
            patchType: 'ApplyConfiguration',
            applyConfiguration: { expression: `Object{spec: Object.spec{initContainers: [${side}]}}` },
          },
          {
            patchType: 'JSONPatch',
            jsonPatch: { expression: '[JSONPatch{op: "add", path: "/metadata/labels", value: {"mesh": "on"}}]' },
          },
        ],
      },
    }
    const binding = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingAdmissionPolicyBinding',
      metadata: { name: 'everywhere' },
      spec: { policyName: 'sidecar' },
    }
    for (const each of [policy, binding]) expect((await apply(each)).code).toBe(0)
    expect(rows(await kubectl('get', 'mutatingadmissionpolicies'))[1]?.slice(0, 3)).toEqual(['sidecar', '2', '<unset>'])
    expect((await apply(pod('meshed'))).stderr).toBe('')
    const shown = 'jsonpath={.spec.initContainers[*].name} {.metadata.labels.mesh} {.spec.containers[*].name}'
    expect(await kubectl('get', 'pod', 'meshed', '-o', shown)).toBe('mesh on main')
    // Applying the same again finds nothing to change.
    expect((await apply(pod('meshed'))).stdout).toBe('pod/meshed unchanged\n')
    await kubectl('delete', 'pod', 'meshed', '--now')
  })
})
