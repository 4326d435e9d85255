import { describe, expect, it } from 'vitest'
import { compile } from '../../../schema/compile.ts'
import { imagePullPolicyDefault, podDefaults, podSpecDefaults } from './pod-defaults.ts'
import { storedContainer, storedPod } from './pod-fixtures.ts'
import { podSchema } from './pod-schema.ts'

describe('defaults of a pod', () => {
  it('fills in what every pod has', () => {
    expect(storedPod().spec).toEqual({
      containers: [
        {
          name: 'web',
          image: 'nginx:1.27',
          resources: {},
          imagePullPolicy: 'IfNotPresent',
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
        },
      ],
      restartPolicy: 'Always',
      dnsPolicy: 'ClusterFirst',
      schedulerName: 'default-scheduler',
      terminationGracePeriodSeconds: 30,
      securityContext: {},
      enableServiceLinks: true,
    })
  })

  it('leaves a pod that has them all as it is', () => {
    const pod = storedPod({ volumes: [{ name: 'cache' }], hostNetwork: true })
    expect(podDefaults(pod)).toBe(pod)
  })

  it('keeps the fields in the order in which decoding has them', () => {
    const pod = storedPod({
      volumes: [{ name: 'cache' }],
      serviceAccount: 'shop',
      initContainers: [{ name: 'i', image: 'a' }],
    })
    expect(compile(podSchema).decode(pod).value).toBe(pod)
  })

  it.each([
    ['nginx', 'Always'],
    ['nginx:latest', 'Always'],
    ['nginx:1.27', 'IfNotPresent'],
    ['registry:5000/nginx', 'Always'],
    ['registry:5000/nginx:1.27', 'IfNotPresent'],
    ['nginx@sha256:0123', 'IfNotPresent'],
    ['nginx:latest@sha256:0123', 'Always'],
    ['', 'IfNotPresent'],
    ['localhost:5000/nginx', 'Always'],
    ['ghcr.io/a_b/c-d', 'Always'],
    ['Nginx', 'IfNotPresent'],
    [' nginx', 'IfNotPresent'],
    ['a'.repeat(255), 'Always'],
    ['a'.repeat(256), 'IfNotPresent'],
    ['0123456789abcdef'.repeat(4), 'IfNotPresent'],
  ])('pulls %j %s', (image, policy) => {
    expect(imagePullPolicyDefault(image)).toBe(policy)
  })

  it('rounds up amounts finer than a thousandth', () => {
    const pod = storedContainer({ resources: { limits: { cpu: '1u', memory: '100n' } } })
    expect(pod.spec.containers[0]?.resources).toEqual({
      requests: { cpu: '1m', memory: '1m' },
      limits: { cpu: '1m', memory: '1m' },
    })
  })

  it.each([
    [{ limits: { cpu: '2' } }, { requests: { cpu: '1500m', memory: '1Gi' }, limits: { cpu: '2' } }],
    [
      { limits: { cpu: '2', memory: '4Gi' }, requests: { cpu: '2' } },
      { limits: { cpu: '2', memory: '4Gi' }, requests: { cpu: '2', memory: '1Gi' } },
    ],
    [{ requests: { cpu: '2' } }, { requests: { cpu: '2' } }],
    [{}, {}],
  ])('makes resources of the whole pod out of %j', (resources, expected) => {
    const one = { name: 'a', image: 'a', resources: { requests: { cpu: '1', memory: '512Mi' } } }
    const other = { name: 'b', image: 'b', resources: { requests: { cpu: '250m', memory: '512Mi' } } }
    const sidecar = { name: 's', image: 's', restartPolicy: 'Always', resources: { requests: { cpu: '250m' } } }
    const init = { name: 'i', image: 'i', resources: { requests: { cpu: '1' } } }
    const pod = storedPod({ containers: [one, other], initContainers: [sidecar, init], resources })
    expect(pod.spec.resources).toEqual(expected)
    expect(podDefaults(pod)).toBe(pod)
  })

  it('keeps a pull policy, but takes an empty one for none', () => {
    expect(storedContainer({ imagePullPolicy: 'Never' }).spec.containers[0]?.imagePullPolicy).toBe('Never')
    expect(storedContainer({ imagePullPolicy: '' }).spec.containers[0]?.imagePullPolicy).toBe('IfNotPresent')
  })

  it('speaks TCP unless told otherwise', () => {
    const ports = [{ containerPort: 80 }, { containerPort: 53, protocol: 'UDP' }]
    const protocols = storedContainer({ ports }).spec.containers[0]?.ports?.map((each) => each.protocol)
    expect(protocols).toEqual(['TCP', 'UDP'])
  })

  it('fills in probes, and takes a zero for nothing', () => {
    const { readinessProbe } =
      storedContainer({
        readinessProbe: { httpGet: { port: 80 }, timeoutSeconds: 0, periodSeconds: 5 },
      }).spec.containers[0] ?? {}
    expect(readinessProbe).toEqual({
      httpGet: { port: 80, path: '/', scheme: 'HTTP' },
      timeoutSeconds: 1,
      periodSeconds: 5,
      successThreshold: 1,
      failureThreshold: 3,
    })
  })

  it('requests what is limited, unless less is requested', () => {
    const resources = { limits: { cpu: '2', memory: '1Gi' }, requests: { cpu: '500m' } }
    expect(storedContainer({ resources }).spec.containers[0]?.resources?.requests).toEqual({
      cpu: '500m',
      memory: '1Gi',
    })
  })

  it('gives host ports to pods on the network of the node', () => {
    const containers = [{ name: 'web', image: 'nginx', ports: [{ containerPort: 80 }] }]
    const hostPort = (hostNetwork: boolean) =>
      storedPod({ hostNetwork, containers }).spec.containers[0]?.ports?.[0]?.hostPort
    expect(hostPort(true)).toBe(80)
    expect(hostPort(false)).toBeUndefined()
  })

  it.each([
    [{ name: 'v' }, { name: 'v', emptyDir: {} }],
    [
      { name: 'v', secret: { secretName: 's' } },
      { name: 'v', secret: { secretName: 's', defaultMode: 0o644 } },
    ],
    [
      { name: 'v', configMap: { name: 'c' } },
      { name: 'v', configMap: { name: 'c', defaultMode: 0o644 } },
    ],
    [
      { name: 'v', hostPath: { path: '/x' } },
      { name: 'v', hostPath: { path: '/x', type: '' } },
    ],
    [
      { name: 'v', image: { reference: 'a:1' } },
      { name: 'v', image: { reference: 'a:1', pullPolicy: 'IfNotPresent' } },
    ],
    [
      { name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } },
      {
        name: 'v',
        projected: { sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 3600 } }], defaultMode: 0o644 },
      },
    ],
  ])('completes the volume %j', (written, stored) => {
    expect(storedPod({ volumes: [written] }).spec.volumes).toEqual([stored])
  })

  it('names the version of a field reference', () => {
    const env = [{ name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }]
    const source = storedContainer({ env }).spec.containers[0]?.env?.[0]?.valueFrom
    expect(source).toEqual({ fieldRef: { apiVersion: 'v1', fieldPath: 'spec.nodeName' } })
  })

  it.each([
    [{ serviceAccountName: 'new' }, 'new'],
    [{ serviceAccount: 'old' }, 'old'],
    [{ serviceAccountName: 'new', serviceAccount: 'old' }, 'new'],
  ])('keeps both names of the service account: %j', (spec, name) => {
    expect(storedPod(spec).spec).toMatchObject({ serviceAccountName: name, serviceAccount: name })
  })

  it('takes a negative grace period for one second', () => {
    expect(storedPod({ terminationGracePeriodSeconds: -5 }).spec.terminationGracePeriodSeconds).toBe(1)
    expect(storedPod({ terminationGracePeriodSeconds: 0 }).spec.terminationGracePeriodSeconds).toBe(0)
  })
})

describe('defaults of a template', () => {
  it('leave to the pod what only pods have', () => {
    const spec = podSpecDefaults({
      containers: [
        { name: 'web', image: 'nginx', ports: [{ containerPort: 80 }], resources: { limits: { cpu: '1' } } },
      ],
      hostNetwork: true,
    })
    expect(spec.containers[0]).toMatchObject({ imagePullPolicy: 'Always', resources: { limits: { cpu: '1' } } })
    expect(spec.containers[0]?.resources?.requests).toBeUndefined()
    expect(spec.containers[0]?.ports).toEqual([{ containerPort: 80, protocol: 'TCP' }])
    expect(spec.enableServiceLinks).toBeUndefined()
  })
})
