import { type FieldError, invalidField, requiredField } from '../../../field-error.ts'
import { FieldPath } from '../../../field-path.ts'
import { kindSchema } from '../../../meta.ts'
import { atomicList, enumOf, int32, object, optional, pointer, required, string } from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { ipWarnings } from '../../address-warnings.ts'
import { checkEndpointIp, checkIp, looseAddressFamily } from '../../addresses.ts'
import { ageColumn, column, nameColumn } from '../../columns.ts'
import { kind } from '../../kind.ts'
import { coreV1 } from '../../meta/names.ts'
import { objectReference } from '../common.ts'
import { checkGiven, checkPortNumber, checkText } from '../pod/validation/checks.ts'

export interface EndpointAddress extends Infer<typeof endpointAddress> {}
export const endpointAddress = object(
  `${coreV1}.EndpointAddress`,
  'An address behind a service.',
  {
    ip: required(string(), 'The address.', { default: '' }),
    hostname: optional(string(), 'The name of what is there, below that of the service.'),
    nodeName: pointer(string(), 'The node that it is on.'),
    targetRef: optional(objectReference, 'What is there, such as a pod.'),
  },
  { mapType: 'atomic' },
)

export interface EndpointPort extends Infer<typeof endpointPort> {}
export const endpointPort = object(
  `${coreV1}.EndpointPort`,
  'A port of the addresses.',
  {
    name: optional(string(), 'Name of the port, as the service has it. Must be there where there are several.'),
    port: required(int32(), 'The port.', { default: 0 }),
    protocol: optional(enumOf('SCTP', 'TCP', 'UDP'), 'TCP, UDP or SCTP; TCP unless set.', { default: 'TCP' }),
    appProtocol: pointer(string(), 'What is spoken on the port, such as kubernetes.io/h2c or https.'),
  },
  { mapType: 'atomic' },
)

export interface EndpointSubset extends Infer<typeof endpointSubset> {}
export const endpointSubset = object(
  `${coreV1}.EndpointSubset`,
  'Addresses with the same ports: each is reached at each of them.',
  {
    addresses: optional(atomicList(endpointAddress), 'Addresses that are ready for traffic.'),
    notReadyAddresses: optional(atomicList(endpointAddress), 'Addresses that are not ready yet, or no longer.'),
    ports: optional(atomicList(endpointPort), 'The ports.'),
  },
)

/** The addresses behind a service, all in one object. EndpointSlices have taken its place. */
export interface Endpoints extends Infer<typeof endpointsSchema> {}
export const endpointsSchema = kindSchema(
  `${coreV1}.Endpoints`,
  'The addresses behind the service of the same name. EndpointSlices have taken its place: it grows with the pods.',
  { subsets: optional(atomicList(endpointSubset), 'The addresses, by their ports.') },
)

const subsetsPath = FieldPath.of('subsets')

function validate(of: Endpoints): readonly FieldError[] {
  const { subsets = [] } = of
  return subsets.flatMap(({ addresses = [], notReadyAddresses = [], ports = [] }, index) => {
    const path = subsetsPath.index(index)
    return [
      ...(addresses.length + notReadyAddresses.length === 0
        ? [requiredField(path, 'must specify `addresses` or `notReadyAddresses`')]
        : []),
      ...addresses.flatMap((each, at) => addressErrors(each, path.field('addresses').index(at), of)),
      ...notReadyAddresses.flatMap((each, at) => addressErrors(each, path.field('notReadyAddresses').index(at), of)),
      ...ports.flatMap((each, at) => portErrors(each, ports.length > 1, path.field('ports').index(at))),
    ]
  })
}

function addressErrors(
  { ip, hostname, nodeName }: EndpointAddress,
  path: FieldPath,
  of: Endpoints,
): readonly FieldError[] {
  const wrongIp = checkIp(ip, path.field('ip'))
  return [
    ...wrongIp,
    ...checkText('dns1123-label', hostname, path.field('hostname')),
    ...checkGiven('dns1123-subdomain', nodeName, path.field('nodeName')),
    ...(wrongIp.length > 0 ? noAddressErrors(ip, path.field('ip')) : checkEndpointIp(ip, path.field('ip'), of)),
  ]
}

/** Upstream looks again at what is no address, and then takes numbers with zeros before them. */
function noAddressErrors(ip: string, path: FieldPath): readonly FieldError[] {
  return looseAddressFamily(ip) !== 0 ? [] : [invalidField(path, ip, 'must be a valid IP address')]
}

function portErrors(
  { name, port, appProtocol }: EndpointPort,
  isOneOfSeveral: boolean,
  path: FieldPath,
): readonly FieldError[] {
  return [
    ...(!name && isOneOfSeveral ? [requiredField(path.field('name'))] : []),
    ...checkText('dns1123-label', name, path.field('name')),
    ...checkPortNumber(port, path.field('port')),
    ...checkGiven('qualified-name', appProtocol, path.field('appProtocol')),
  ]
}

/** How many addresses a table shows. */
const shownMax = 3

function shownAddresses({ subsets = [] }: Endpoints): string {
  if (subsets.length === 0) return '<none>'
  const all = subsets.flatMap(({ addresses = [], ports = [] }) =>
    ports.length === 0
      ? addresses.map(({ ip }) => ip)
      : ports.flatMap(({ port }) => addresses.map(({ ip }) => `${ip.includes(':') ? `[${ip}]` : ip}:${port}`)),
  )
  const shown = all.slice(0, shownMax).join(',')
  return all.length > shownMax ? `${shown} + ${all.length - shownMax} more...` : shown
}

/** `v1` endpoints. */
export const endpoints = kind<Endpoints>(endpointsSchema, {
  plural: 'endpoints',
  singular: 'endpoints',
  shortNames: ['ep'],
  columns: [nameColumn, column('Endpoints', shownAddresses, { field: 'subsets' }), ageColumn],
  rules: { createsOnUpdate: true },
  deprecated: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  validate,
  // What the server's own controller writes is written as usual.
  warnings: ({ metadata, subsets = [] }) =>
    metadata.labels?.['endpoints.kubernetes.io/managed-by'] === 'endpoint-controller'
      ? []
      : subsets.flatMap((subset, index) =>
          (['addresses', 'notReadyAddresses'] as const).flatMap((list) =>
            (subset[list] ?? []).flatMap(({ ip }, at) =>
              ipWarnings(ip, subsetsPath.index(index).field(list).index(at).field('ip')),
            ),
          ),
        ),
})
