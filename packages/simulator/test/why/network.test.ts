import { apiServices, customResourceDefinitions, deployments, ingressClasses, ingresses, services } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { container, labels, Situation, selector, templateOf } from './situation.ts'

const web = (replicas = 1) => ({
  spec: {
    replicas,
    selector,
    template: templateOf({ containers: [{ ...container, ports: [{ name: 'http', containerPort: 80 }] }] }),
  },
})
const service = (spec: object = {}) => ({
  spec: { selector: labels, ports: [{ port: 80, targetPort: 'http' }], ...spec },
})

describe('why a Service leads nowhere', () => {
  it('selects labels that no pod has', async () => {
    await using situation = await Situation.start()
    await situation.create(deployments, 'web', web())
    await situation.create(services, 'web', service({ selector: { app: 'wep' } }))
    await situation.passes('10s')
    expect(await situation.cause(services, 'web')).toBe(
      'SelectorMatchesNothing of service/web: no pod has the labels it selects: app=wep',
    )
    expect(await situation.remedy(services, 'web')).toContain('deployment/web has app=web')
    await situation.patch(services, 'web', { spec: { selector: labels } })
    await situation.passes('10s')
    expect(await situation.verdict(services, 'web')).toBe('fine')
  })

  it('selects the pods of a Deployment that has none', async () => {
    await using situation = await Situation.start()
    await situation.create(deployments, 'web', web(0))
    await situation.create(services, 'web', service())
    await situation.passes('10s')
    expect(await situation.cause(services, 'web')).toBe(
      'ScaledToZero of service/web: no pod has the labels it selects: app=web; deployment/web makes such pods, and is to have 0 of them',
    )
    expect(await situation.remedy(services, 'web')).toBe('`coracle scale deployment/web --replicas=1`')
    await situation.patch(deployments, 'web', { spec: { replicas: 1 } })
    await situation.passes('10s')
    expect(await situation.verdict(services, 'web')).toBe('fine')
  })

  it('leads to a port that no container has', async () => {
    await using situation = await Situation.start()
    await situation.create(deployments, 'web', web())
    await situation.create(services, 'web', service({ ports: [{ port: 80, targetPort: 'https' }] }))
    await situation.passes('10s')
    expect(await situation.cause(services, 'web')).toBe(
      'TargetPortMissing of service/web: targetPort is https, and no container of its pods has a port of that name',
    )
    expect(await situation.remedy(services, 'web')).toMatch(/correct targetPort: there is http$/)
    await situation.patch(services, 'web', { spec: { ports: [{ port: 80, targetPort: 'http' }] } })
    await situation.passes('10s')
    expect(await situation.verdict(services, 'web')).toBe('fine')
  })

  it('leads to a port that nobody declares, which may be wrong', async () => {
    await using situation = await Situation.start()
    await situation.create(deployments, 'web', web())
    await situation.create(services, 'web', service({ ports: [{ port: 80, targetPort: 8080 }] }))
    await situation.passes('10s')
    expect(await situation.why(services, 'web')).toMatchObject({
      verdict: 'fine',
      findings: [{ reason: 'TargetPortNotDeclared', state: 'hint' }],
    })
  })

  it('waits for a load balancer', async () => {
    await using situation = await Situation.start()
    await situation.create(deployments, 'web', web())
    await situation.create(services, 'web', service({ type: 'LoadBalancer' }))
    await situation.passes('10s')
    expect(await situation.cause(services, 'web')).toMatch(/^LoadBalancerPending of service\/web/)
    await situation.patch(
      services,
      'web',
      { status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } },
      { subresource: 'status' },
    )
    expect(await situation.verdict(services, 'web')).toBe('fine')
  })
})

describe('why an Ingress leads nowhere', () => {
  const backend = (name: string) => ({ service: { name, port: { number: 80 } } })

  it('names no class, a class that is not there, a service that is not there', async () => {
    await using situation = await Situation.start()
    await situation.create(ingresses, 'web', { spec: { defaultBackend: backend('web') } })
    expect(await situation.cause(ingresses, 'web')).toBe(
      'IngressClassNotSet of ingress/web: it names no class, and no IngressClass is the default',
    )
    await situation.patch(ingresses, 'web', { spec: { ingressClassName: 'nginx' } })
    expect(await situation.cause(ingresses, 'web')).toBe(
      'IngressClassMissing of ingress/web: there is no IngressClass nginx',
    )
    await situation.create(ingressClasses, 'nginx', { spec: { controller: 'k8s.io/ingress-nginx' } })
    expect(await situation.cause(ingresses, 'web')).toBe(
      'BackendMissing of ingress/web: there is no service web in namespace default',
    )
    await situation.create(deployments, 'web', web())
    await situation.create(services, 'web', service())
    await situation.passes('10s')
    expect(await situation.cause(ingresses, 'web')).toMatch(/^IngressAddressPending of ingress\/web/)
  })
})

describe('why an API is not served', () => {
  it('has names that another definition has', async () => {
    await using situation = await Situation.start()
    const definition = (plural: string) => ({
      spec: {
        group: 'example.dev',
        scope: 'Namespaced',
        names: { plural, singular: plural.slice(0, -1), kind: 'Gadget', listKind: 'GadgetList' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    })
    await situation.create(customResourceDefinitions, 'gadgets.example.dev', definition('gadgets'))
    await situation.passes('2s')
    await situation.create(customResourceDefinitions, 'gizmos.example.dev', definition('gizmos'))
    await situation.passes('2s')
    expect(await situation.verdict(customResourceDefinitions, 'gadgets.example.dev')).toBe('fine')
    expect(await situation.cause(customResourceDefinitions, 'gizmos.example.dev')).toMatch(
      /^ListKindConflict of customresourcedefinition\/gizmos\.example\.dev: .*Gadget/,
    )
    await situation.delete(customResourceDefinitions, 'gadgets.example.dev')
    await situation.passes('5s')
    expect(await situation.verdict(customResourceDefinitions, 'gizmos.example.dev')).toBe('fine')
  })

  it('is behind a service that is not there', async () => {
    await using situation = await Situation.start()
    await situation.create(apiServices, 'v1.metrics.example.dev', {
      spec: {
        group: 'metrics.example.dev',
        version: 'v1',
        service: { namespace: 'default', name: 'adapter' },
        groupPriorityMinimum: 100,
        versionPriority: 100,
        insecureSkipTLSVerify: true,
      },
    })
    await situation.passes('1m')
    expect(await situation.cause(apiServices, 'v1.metrics.example.dev')).toMatch(
      /^ServiceNotFound of apiservice\/v1\.metrics\.example\.dev: service\/adapter in "default" is not present/,
    )
    expect(await situation.remedy(apiServices, 'v1.metrics.example.dev')).toContain(
      'coracle why service/adapter -n default',
    )
  })
})
