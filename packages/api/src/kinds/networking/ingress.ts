import { compareText } from '../../compare-text.ts'
import { ageColumn, column, joined, nameColumn } from '../columns.ts'
import { kind } from '../kind.ts'
import { ingressChecks } from './ingress-checks.ts'
import { ingressClassAnnotation } from './ingress-class-annotation.ts'
import { type Ingress, ingressSchema } from './ingress-schema.ts'

/** `networking.k8s.io/v1` ingresses. */
export const ingresses = kind<Ingress>(ingressSchema, {
  plural: 'ingresses',
  shortNames: ['ing'],
  columns: [
    nameColumn,
    column('Class', ({ spec }) => spec?.ingressClassName ?? '<none>', { field: 'spec.ingressClassName' }),
    column('Hosts', shownHosts, 'Hosts that there are rules for.'),
    column('Address', shownAddresses, 'Where requests arrive.'),
    column('Ports', ({ spec }) => ((spec?.tls ?? []).length > 0 ? '80, 443' : '80'), 'Ports at which they arrive.'),
    ageColumn,
  ],
  countsGenerations: true,
  prepareForCreate: (ingress) => ({ ...ingress, status: { loadBalancer: {} } }),
  load: ingressChecks.load,
  validate: (ingress) => ingressChecks.get().validateIngress(ingress),
  validateCreate: (ingress) => ingressChecks.get().validateNewIngress(ingress),
  validateStatusUpdate: (ingress) => ingressChecks.get().validateIngressStatus(ingress),
  warnings: ({ metadata, spec }, old) =>
    old === undefined &&
    metadata.annotations?.[ingressClassAnnotation] !== undefined &&
    spec?.ingressClassName === undefined
      ? [`annotation "${ingressClassAnnotation}" is deprecated, please use 'spec.ingressClassName' instead`]
      : [],
})

/** Tables show this many hosts, and how many more there are. */
const shownHostsMax = 3

function shownHosts({ spec }: Ingress): string {
  const rules = spec?.rules ?? []
  const hosts: string[] = []
  let hasMore = false
  for (const { host = '' } of rules) {
    hasMore ||= hosts.length === shownHostsMax
    if (!hasMore && host !== '') hosts.push(host)
  }
  if (hosts.length === 0) return '*'
  return hasMore ? `${joined(hosts)} + ${rules.length - shownHostsMax} more...` : joined(hosts)
}

function shownAddresses({ status }: Ingress): string {
  const addresses = new Set((status?.loadBalancer?.ingress ?? []).flatMap(({ ip, hostname }) => ip || hostname || []))
  return joined([...addresses].sort(compareText))
}
