import { type FieldError, invalidField, requiredField, unsupportedField } from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { checkFormat, checkPathSegment, checkWildcardSubdomain } from '../../string-formats.ts'
import { looseAddressFamily } from '../addresses.ts'
import { checkPort, checkTextOrEmpty } from '../core/pod/validation/checks.ts'
import { ingressClassAnnotation } from './ingress-class-annotation.ts'
import type { HttpIngressPath, Ingress, IngressBackend, IngressRule, IngressTls } from './ingress-schema.ts'

const specPath = FieldPath.of('spec')

/** What is wrong with an ingress (networking/validation validateIngress). */
export function validateIngress({ spec = {} }: Ingress): readonly FieldError[] {
  const { rules = [], defaultBackend, tls = [], ingressClassName } = spec
  const isEmpty = rules.length === 0 && defaultBackend === undefined
  return [
    ...(isEmpty ? [invalidField(specPath, null, 'either `defaultBackend` or `rules` must be specified')] : []),
    ...(defaultBackend === undefined ? [] : validateBackend(defaultBackend, specPath.field('defaultBackend'))),
    ...rules.flatMap((rule, index) => validateRule(rule, specPath.field('rules').index(index))),
    ...tls.flatMap((each, index) => validateTls(each, specPath.field('tls').index(index))),
    ...(ingressClassName === undefined
      ? []
      : checkTextOrEmpty('dns1123-subdomain', ingressClassName, specPath.field('ingressClassName'))),
  ]
}

/** The class may be named twice, by annotation and by field, if both say the same. */
export function validateNewIngress({ metadata, spec }: Ingress): readonly FieldError[] {
  const named = metadata.annotations?.[ingressClassAnnotation]
  const { ingressClassName } = spec ?? {}
  if (named === undefined || ingressClassName === undefined || named === ingressClassName) return []
  const path = FieldPath.of('annotations', ingressClassAnnotation)
  return [invalidField(path, named, 'must match `ingressClassName` when both are specified')]
}

function validateRule({ host = '', http }: IngressRule, path: FieldPath): readonly FieldError[] {
  const at = path.field('host')
  const paths = path.field('http').field('paths')
  return [
    ...(looseAddressFamily(host) === 0 ? [] : [invalidField(at, host, 'must be a DNS name, not an IP address')]),
    ...(host === '' ? [] : checkHost(host, at)),
    ...(http?.paths.length === 0 ? [requiredField(paths)] : []),
    ...(http?.paths ?? []).flatMap((each, index) => validatePath(each, paths.index(index))),
  ]
}

function checkHost(host: string, path: FieldPath): readonly FieldError[] {
  const problems = host.includes('*') ? checkWildcardSubdomain(host) : checkFormat('dns1123-subdomain', host)
  return problems.map((why) => invalidField(path, host, why))
}

const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix']
const forbiddenSequences = ['//', '/./', '/../', '%2f', '%2F']
const forbiddenEnds = ['/..', '/.']

function validatePath({ path: text = '', pathType, backend }: HttpIngressPath, path: FieldPath): readonly FieldError[] {
  if (pathType === undefined) return [requiredField(path.field('pathType'), 'pathType must be specified')]
  return [...pathErrors(text, pathType, path), ...validateBackend(backend, path.field('backend'))]
}

function pathErrors(text: string, type: string, path: FieldPath): readonly FieldError[] {
  if (!pathTypes.includes(type)) return [unsupportedField(path.field('pathType'), type, pathTypes)]
  const invalid = (why: string): FieldError => invalidField(path.field('path'), text, why)
  const isOptional = type === 'ImplementationSpecific'
  if (isOptional && text === '') return []
  const errors = text.startsWith('/') ? [] : [invalid('must be an absolute path')]
  if (isOptional) return errors
  return [
    ...errors,
    ...forbiddenSequences.filter((each) => text.includes(each)).map((each) => invalid(`must not contain '${each}'`)),
    ...forbiddenEnds.filter((each) => text.endsWith(each)).map((each) => invalid(`cannot end with '${each}'`)),
  ]
}

function validateBackend({ service, resource }: IngressBackend, path: FieldPath): readonly FieldError[] {
  if (service !== undefined && resource !== undefined) {
    return [invalidField(path, '', 'cannot set both resource and service backends')]
  }
  if (resource !== undefined) return validateReference(resource, path.field('resource'))
  if (service === undefined) return [invalidField(path, '', 'resource or service backend is required')]
  const at = path.field('service')
  return [
    ...(service.name ? checkTextOrEmpty('dns1123-label', service.name, at.field('name')) : []),
    ...validateBackendPort(service.port ?? {}, path),
  ]
}

function validateBackendPort(
  { name = '', number = 0 }: { readonly name?: string | undefined; readonly number?: number | undefined },
  path: FieldPath,
): readonly FieldError[] {
  const at = path.field('service').field('port')
  if (name !== '' && number !== 0) return [invalidField(path, '', 'cannot set both port name & port number')]
  if (name !== '') return checkPort(name, at.field('name'))
  return number === 0 ? [requiredField(path, 'port name or number is required')] : checkPort(number, at.field('number'))
}

/** A reference to an object of any kind (validateIngressTypedLocalObjectReference). */
export function validateReference(
  reference: { readonly apiGroup?: string | undefined; readonly kind: string; readonly name: string },
  path: FieldPath,
): readonly FieldError[] {
  const { apiGroup } = reference
  return [
    ...(apiGroup === undefined ? [] : checkTextOrEmpty('dns1123-subdomain', apiGroup, path.field('apiGroup'))),
    ...(['kind', 'name'] as const).flatMap((part) =>
      checkPathSegment(reference[part] ?? '').map((why) => invalidField(path.field(part), reference[part], why)),
    ),
  ]
}

function validateTls({ hosts = [], secretName }: IngressTls, path: FieldPath): readonly FieldError[] {
  return [
    ...hosts.flatMap((host, index) => checkHost(host, path.field('hosts').index(index))),
    ...(secretName ? checkTextOrEmpty('dns1123-subdomain', secretName, path.field('secretName')) : []),
  ]
}

/** What is wrong with what a controller says of an ingress. */
export function validateIngressStatus({ status }: Ingress): readonly FieldError[] {
  const path = FieldPath.of('status', 'loadBalancer', 'ingress')
  return (status?.loadBalancer?.ingress ?? []).flatMap(({ ip = '', hostname = '' }, index) => {
    const at = path.index(index)
    const isAddress = looseAddressFamily(hostname) !== 0
    return [
      ...(ip === '' ? [] : checkTextOrEmpty('ip', ip, at.field('ip'))),
      ...(hostname === '' ? [] : checkTextOrEmpty('dns1123-subdomain', hostname, at.field('hostname'))),
      ...(isAddress ? [invalidField(at.field('hostname'), hostname, 'must be a DNS name, not an IP address')] : []),
    ]
  })
}
