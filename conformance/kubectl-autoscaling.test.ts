import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { controller, Kubectl, rows } from './support/kubectl.ts'
import { eventually, Program } from './support/program.ts'

let program: Program
let namespaces = 0
const inNewNamespace = () => Kubectl.inNewNamespace(program, `autoscaling-${namespaces++}`)

beforeAll(async () => {
  program = await Program.start({ args: ['--memory', '--runtime', 'simulated', '--nodes', '2'] })
})
afterAll(() => program[Symbol.asyncDispose]())

describe('kubectl top', () => {
  it('shows what pods use, as their annotation says while they run', async () => {
    const kubectl = await inNewNamespace()
    await kubectl.create('replicationcontrollers', controller('web', 2))
    await kubectl.waitForReplicas('web', 2)
    const table = rows(await kubectl.ok(['top', 'pod']))
    expect(table[0]).toEqual(['NAME', 'CPU(cores)', 'MEMORY(bytes)'])
    expect(table.slice(1).map(([, ...usage]) => usage)).toEqual([
      ['1m', '8Mi'],
      ['1m', '8Mi'],
    ])
    const name = table[1]?.[0] ?? ''
    await kubectl.ok(['annotate', 'pod', name, 'coracle.dev/simulated-usage=cpu=250m,memory=64Mi'])
    expect(rows(await kubectl.ok(['top', 'pod', name, '--no-headers']))).toEqual([[name, '250m', '64Mi']])
    expect(rows(await kubectl.ok(['top', 'pod', name, '--containers']))[1]?.slice(0, 1)).toEqual([name])
    expect(await kubectl.ok(['top', 'pod', '-l', 'no=label', '--no-headers'])).toBe('')
  })

  it('shows what nodes use, and how much of what they have that is', async () => {
    const kubectl = await Kubectl.in(program)
    const table = rows(await kubectl.ok(['top', 'node']))
    expect(table[0]?.slice(0, 3)).toEqual(['NAME', 'CPU(cores)', 'CPU(%)'])
    expect(table.slice(1).map(([name]) => name)).toEqual(['node-0', 'node-1'])
  })

  it('get shows the table of metrics-server', async () => {
    const kubectl = await inNewNamespace()
    await kubectl.create('replicationcontrollers', controller('web', 1))
    await kubectl.waitForReplicas('web', 1)
    const table = rows(await kubectl.ok(['get', 'pods.metrics.k8s.io']))
    expect(table[0]).toEqual(['NAME', 'CPU', 'MEMORY', 'WINDOW'])
    expect(table[1]?.slice(1)).toEqual(['1m', '8Mi', '15s'])
    const resources = rows(await kubectl.ok(['api-resources', '--api-group=metrics.k8s.io']))
    expect(resources.slice(1).map(([plural, version, , kind]) => [plural, version, kind])).toEqual([
      ['nodes', 'metrics.k8s.io/v1beta1', 'NodeMetrics'],
      ['pods', 'metrics.k8s.io/v1beta1', 'PodMetrics'],
    ])
    expect(await kubectl.ok(['explain', 'pods.window', '--api-version=metrics.k8s.io/v1beta1'])).toContain(
      'window <string>',
    )
  })

  it('refuses an annotation that says nothing', async () => {
    const kubectl = await inNewNamespace()
    await kubectl.create('replicationcontrollers', controller('web', 1))
    await kubectl.waitForReplicas('web', 1)
    const [pod] = await kubectl.list('pods')
    const { stderr } = await kubectl.run([
      'annotate',
      'pod',
      pod?.metadata.name ?? '',
      'coracle.dev/simulated-usage=a lot',
    ])
    expect(stderr).toContain('must be [CONTAINER:]RESOURCE=AMOUNT, such as cpu=250m or web:cpu=250m')
  })
})

const deployment = (replicas: number) => `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  replicas: ${replicas}
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: example/web, resources: { requests: { cpu: 100m } } }] }
`

const lines = (text: string): readonly string[] => text.split('\n').map((line) => line.replace(/\s+/g, ' ').trim())

describe('a HorizontalPodAutoscaler', () => {
  /** What describe shows once there is a line like each of these. */
  const described = async (kubectl: Kubectl, ...wanted: readonly RegExp[]) =>
    eventually(String(wanted), async () => {
      const all = lines(await kubectl.ok(['describe', 'hpa', 'web']))
      return wanted.every((each) => all.some((line) => each.test(line))) ? all : undefined
    })

  it('is made by autoscale, and brings what it scales within its bounds', async () => {
    const kubectl = await inNewNamespace()
    await kubectl.ok(['apply', '-f', '-'], { input: deployment(1) })
    await kubectl.ok(['rollout', 'status', 'deployment/web'])
    expect(await kubectl.ok(['autoscale', 'deployment/web', '--min=2', '--max=5', '--cpu=50%'])).toBe(
      'horizontalpodautoscaler.autoscaling/web autoscaled\n',
    )
    const rescaled = /New size: 2; reason: Current number of replicas below Spec.MinReplicas$/
    // Whether the next look has come already is up to the clock: each autoscaler has its own moments.
    const all = await described(kubectl, rescaled, /^Deployment pods: [12] current \/ 2 desired$/)
    expect(all).toContain('Reference: Deployment/web')
    expect(all).toContain('Min replicas: 2')
    expect(all.some((line) => line.startsWith('AbleToScale True '))).toBe(true)
    const [header, row] = rows(await kubectl.ok(['get', 'hpa', 'web']))
    expect(header).toEqual(['NAME', 'REFERENCE', 'TARGETS', 'MINPODS', 'MAXPODS', 'REPLICAS', 'AGE'])
    expect(row?.slice(0, 5)).toEqual(['web', 'Deployment/web', 'cpu: <unknown>/50%', '2', '5'])
    expect(['1', '2']).toContain(row?.[5])
  })

  it('scales by what pods use', async () => {
    const kubectl = await inNewNamespace()
    await kubectl.ok(['apply', '-f', '-'], { input: deployment(2) })
    await kubectl.ok(['rollout', 'status', 'deployment/web'])
    const memory = '{ type: Resource, resource: { name: memory, target: { type: AverageValue, averageValue: 4Mi } } }'
    const target = '{ apiVersion: apps/v1, kind: Deployment, name: web }'
    const autoscaler = `{ apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: { name: web }, spec: { scaleTargetRef: ${target}, maxReplicas: 4, metrics: [${memory}] } }`
    await kubectl.ok(['apply', '-f', '-'], { input: autoscaler })
    const rescaled = /New size: 4; reason: memory resource above target$/
    const all = await described(kubectl, rescaled, /^Deployment pods: [24] current \/ 4 desired$/)
    expect(all).toContain('resource memory on pods: 8Mi / 4Mi')
    expect(rows(await kubectl.ok(['get', 'hpa', 'web']))[1]?.[2]).toBe('memory: 8Mi/4Mi')
    await kubectl.ok(['rollout', 'status', 'deployment/web'])
    expect(await kubectl.list('pods')).toHaveLength(4)
  })
})

it('get apiservices shows who serves what', async () => {
  const kubectl = await Kubectl.in(program)
  const [header, ...all] = rows(await kubectl.ok(['get', 'apiservices']))
  expect(header).toEqual(['NAME', 'SERVICE', 'AVAILABLE', 'AGE'])
  expect(all.map((row) => row.slice(0, 3))).toEqual(
    expect.arrayContaining([
      ['v1.', 'Local', 'True'],
      ['v2.autoscaling', 'Local', 'True'],
      ['v1beta1.metrics.k8s.io', 'Local', 'True'],
    ]),
  )
})

describe('the coracle command', () => {
  const coracle = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await program.coracle(args)
    expect([code, stderr]).toEqual([0, ''])
    return stdout
  }

  it('shows what pods and nodes use, and describes autoscalers', async () => {
    const kubectl = await inNewNamespace()
    const { namespace } = kubectl
    await kubectl.ok(['apply', '-f', '-'], { input: deployment(2) })
    await kubectl.ok(['rollout', 'status', 'deployment/web'])
    const [pod] = await kubectl.list('pods')
    const name = pod?.metadata.name ?? ''
    await kubectl.ok(['annotate', 'pod', name, 'coracle.dev/simulated-usage=cpu=250m,memory=64Mi'])
    const [header, first, second] = rows(await coracle('top', 'pod', '-n', namespace, '--sort-by=cpu'))
    expect([header, first, second?.slice(1)]).toEqual([
      ['NAME', 'CPU(cores)', 'MEMORY(bytes)'],
      [name, '250m', '64Mi'],
      ['1m', '8Mi'],
    ])
    expect(rows(await coracle('top', 'pods', name, '-n', namespace, '--containers', '--no-headers'))).toEqual([
      [name, 'web', '250m', '64Mi'],
    ])
    expect(rows(await coracle('top', 'nodes'))[0]).toEqual([
      'NAME',
      'CPU(cores)',
      'CPU(%)',
      'MEMORY(bytes)',
      'MEMORY(%)',
    ])
    await kubectl.ok(['autoscale', 'deployment/web', '--min=2', '--max=5', '--cpu=50%'])
    await eventually('conditions of the autoscaler', async () => {
      const text = await coracle('describe', 'hpa', 'web', '-n', namespace)
      return lines(text).includes('Reference: Deployment/web') && /AbleToScale +True/.test(text)
    })
  })
})
