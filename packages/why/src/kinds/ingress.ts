import { type Ingress, ingressClasses, type Service, services } from '@coracle/api'
import type { Facts, KindRules } from '../facts.ts'
import type { Diagnosis } from '../finding.ts'

type IngressFacts = Facts<Ingress>

export const ingressRules: KindRules<Ingress> = {
  reads: ({ metadata: { namespace } }) => [{ resource: ingressClasses }, { resource: services, namespace }],
  rules: [withoutClass, backendMissing, noAddress],
  leads: (facts) => backends(facts).flatMap(({ service }) => service ?? []),
}

const defaultAnnotation = 'ingressclass.kubernetes.io/is-default-class'
/** The class as it was said before there were classes. */
const classAnnotation = 'kubernetes.io/ingress.class'

function withoutClass({ object, all }: IngressFacts): Diagnosis | undefined {
  const { ingressClassName } = object.spec ?? {}
  const classes = all(ingressClasses)
  if (classes === undefined || object.metadata.annotations?.[classAnnotation] !== undefined) return undefined
  if (ingressClassName === undefined) {
    const isServed = classes.some(({ metadata }) => metadata.annotations?.[defaultAnnotation] === 'true')
    if (isServed) return undefined
    return {
      reason: 'IngressClassNotSet',
      what: 'no controller sees to it',
      because: 'it names no class, and no IngressClass is the default',
      remedy: `set spec.ingressClassName${classes.length === 0 ? ', with an IngressClass and its controller' : ` to ${classes.map(({ metadata }) => metadata.name).join(' or ')}`}`,
    }
  }
  if (classes.some(({ metadata }) => metadata.name === ingressClassName)) return undefined
  return {
    reason: 'IngressClassMissing',
    what: 'no controller sees to it',
    because: `there is no IngressClass ${ingressClassName}`,
    remedy: `create ingressclass/${ingressClassName}, or correct spec.ingressClassName`,
  }
}

interface Backend {
  readonly name: string
  readonly port: string | number | undefined
  readonly service: Service | undefined
}

/** The services that requests go to, each once. */
function backends({ object: { spec }, some }: IngressFacts): readonly Backend[] {
  const all = [
    spec?.defaultBackend,
    ...(spec?.rules ?? []).flatMap(({ http }) => http?.paths ?? []).map(({ backend }) => backend),
  ]
  const found = new Map<string, Backend>()
  for (const backend of all) {
    const { name, port } = backend?.service ?? {}
    if (name === undefined) continue
    const service = some(services).find(({ metadata }) => metadata.name === name)
    const wanted = port?.name || port?.number
    found.set(`${name} ${wanted}`, { name, port: wanted, service })
  }
  return [...found.values()]
}

function backendMissing(facts: IngressFacts): readonly Diagnosis[] {
  if (facts.all(services) === undefined) return []
  return backends(facts).flatMap(({ name, port, service }): readonly Diagnosis[] => {
    if (service === undefined) {
      return [
        {
          reason: 'BackendMissing',
          what: 'requests lead nowhere',
          because: `there is no service ${name} in namespace ${facts.object.metadata.namespace}`,
          remedy: `create service/${name}, or correct the backend`,
        },
      ]
    }
    const has = service.spec?.ports?.some((each) => each.name === port || each.port === port)
    if (port === undefined || has === true) return []
    return [
      {
        reason: 'BackendPortMissing',
        what: 'requests lead nowhere',
        because: `service ${name} has no port ${port}`,
        remedy: `correct the port of the backend: the service has ${(service.spec?.ports ?? []).map((each) => each.port).join(', ')}`,
      },
    ]
  })
}

function noAddress({ object }: IngressFacts): Diagnosis | undefined {
  if ((object.status?.loadBalancer?.ingress ?? []).length > 0) return undefined
  return {
    reason: 'IngressAddressPending',
    what: 'it has no address',
    because: 'no controller has given it one',
    remedy: 'run the controller of its class: an Ingress does nothing by itself',
    isSymptom: true,
  }
}
