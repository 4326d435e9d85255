/** Upstream's ValidateEndpointSlice (pkg/apis/discovery/validation). */
import { duplicateField, type FieldError, invalidField, requiredField, tooManyField } from '../../../field-error.ts'
import { FieldPath } from '../../../field-path.ts'
import { validateLabels } from '../../../object-meta-validation.ts'
import { checkFormat } from '../../../string-formats.ts'
import { addressFamily, checkCanonicalIp, checkEndpointIp, checkIp } from '../../addresses.ts'
import { checkGiven, checkText } from '../../core/pod/validation/checks.ts'
import { checkUnchanged } from '../../validation.ts'
import type { Endpoint, EndpointHints, EndpointSlice, EndpointSlicePort } from './endpoint-slice-schema.ts'

const endpointsMax = 1000
const portsMax = 20_000
const addressesMax = 100
const topologyLabelsMax = 16
const hintsMax = 8

export function validateEndpointSlice(slice: EndpointSlice): readonly FieldError[] {
  const { endpoints = [], ports = [] } = slice
  const path = FieldPath.of('endpoints')
  return [
    ...(endpoints.length > endpointsMax
      ? [tooManyField(path, endpoints.length, endpointsMax)]
      : endpoints.flatMap((each, index) => endpointErrors(each, slice, path.index(index)))),
    ...portErrors(ports, FieldPath.of('ports')),
  ]
}

export function validateEndpointSliceUpdate({ addressType }: EndpointSlice, old: EndpointSlice): readonly FieldError[] {
  return checkUnchanged(addressType ?? '', old.addressType ?? '', FieldPath.of('addressType'))
}

function endpointErrors(each: Endpoint, slice: EndpointSlice, path: FieldPath): readonly FieldError[] {
  const { addresses, nodeName, deprecatedTopology = {}, hostname, hints } = each
  const [addressesPath, topologyPath] = [path.field('addresses'), path.field('deprecatedTopology')]
  const labels = Object.keys(deprecatedTopology).length
  const hostnameLabel = deprecatedTopology[hostnameLabelKey]
  return [
    ...(addresses.length === 0 ? [requiredField(addressesPath, 'must contain at least 1 address')] : []),
    ...(addresses.length > addressesMax ? [tooManyField(addressesPath, addresses.length, addressesMax)] : []),
    ...addresses.flatMap((address, index) => addressErrors(address, slice, addressesPath, index)),
    ...checkGiven('dns1123-subdomain', nodeName, path.field('nodeName')),
    ...(labels > topologyLabelsMax ? [tooManyField(topologyPath, labels, topologyLabelsMax)] : []),
    ...validateLabels(deprecatedTopology, topologyPath),
    ...(hostnameLabel === undefined
      ? []
      : [
          invalidField(
            topologyPath.key(hostnameLabelKey),
            hostnameLabel,
            'must not be set, use nodeName field instead',
          ),
        ]),
    ...(hostname === undefined
      ? []
      : checkFormat('dns1123-label', hostname).map((why) => invalidField(path.field('hostname'), hostname, why))),
    ...(hints === undefined ? [] : hintErrors(hints, path.field('hints'))),
  ]
}

/** The label of a node that says its name. */
export const hostnameLabelKey = 'kubernetes.io/hostname'

function addressErrors(address: string, slice: EndpointSlice, list: FieldPath, index: number): readonly FieldError[] {
  const { addressType: type } = slice
  const path = list.index(index)
  if (type === 'FQDN') return domainErrors(address, path)
  if (type !== 'IPv4' && type !== 'IPv6') return []
  const errors = type === 'IPv4' ? checkIp(address, path) : checkCanonicalIp(address, path)
  if (errors.length > 0) return errors
  // Upstream names the list here.
  const ofFamily = addressFamily(address) === (type === 'IPv4' ? 4 : 6)
  return [
    ...(ofFamily ? [] : [invalidField(list, address, `must be an ${type} address`)]),
    ...checkEndpointIp(address, path, slice),
  ]
}

/** validation.IsFullyQualifiedDomainName. */
function domainErrors(name: string, path: FieldPath): readonly FieldError[] {
  if (name === '') return [requiredField(path)]
  const whole = name.replace(/\.$/, '')
  const problems = checkFormat('dns1123-subdomain', whole)
  if (problems.length > 0) return problems.map((why) => invalidField(path, whole, why))
  const labels = whole.split('.')
  if (labels.length < 2) {
    return [invalidField(path, whole, 'should be a domain with at least two segments separated by dots')]
  }
  return labels.flatMap((label) => checkFormat('dns1123-label', label).map((why) => invalidField(path, label, why)))
}

function hintErrors({ forZones = [], forNodes = [] }: EndpointHints, path: FieldPath): readonly FieldError[] {
  const check = (
    list: readonly { readonly name: string }[],
    at: FieldPath,
    format: 'label-value' | 'dns1123-subdomain',
  ): readonly FieldError[] => {
    if (list.length > hintsMax) return [tooManyField(at, list.length, hintsMax)]
    const names = list.map(({ name }) => name)
    return names.flatMap((name, index) => {
      const namePath = at.index(index).field('name')
      return [
        ...(names.indexOf(name) < index ? [duplicateField(namePath, name)] : []),
        ...checkFormat(format, name).map((why) => invalidField(namePath, name, why)),
      ]
    })
  }
  return [
    ...check(forZones, path.field('forZones'), 'label-value'),
    ...check(forNodes, path.field('forNodes'), 'dns1123-subdomain'),
  ]
}

function portErrors(ports: readonly EndpointSlicePort[], path: FieldPath): readonly FieldError[] {
  if (ports.length > portsMax) return [tooManyField(path, ports.length, portsMax)]
  const names = new Set<string>()
  return ports.flatMap(({ name = '', appProtocol }, index) => {
    const at = path.index(index)
    const isTwice = names.has(name)
    names.add(name)
    return [
      ...checkText('dns1123-label', name, at.field('name')),
      ...(isTwice ? [duplicateField(at.field('name'), name)] : []),
      ...checkGiven('qualified-name', appProtocol, at.field('appProtocol')),
    ]
  })
}
