/**
 * Upstream's server has three registries of types ("schemes") and one of options. Its refusals of a type that is not
 * registered name the scheme that was asked by the place of its source.
 */

/** The schemes that do not belong to all built-in kinds, by the group whose kinds they have. */
const ownSchemes: ReadonlyMap<string, string> = new Map([
  ['apiextensions.k8s.io', 'k8s.io/apiextensions-apiserver/pkg/apiserver/apiserver.go:55'],
  ['apiregistration.k8s.io', 'k8s.io/kube-aggregator/pkg/apiserver/scheme/scheme.go:28'],
])
const commonScheme = 'pkg/api/legacyscheme/scheme.go:30'
const optionsScheme = 'k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27'

/** The scheme that decodes kinds of `group`. */
export const schemeOf = (group: string): string => ownSchemes.get(group) ?? commonScheme

/** Why an object of `kind` cannot be decoded where kinds of `group` are expected. */
export const notRegistered = (apiVersion: string, kind: string, group: string): string =>
  registeredNowhere(apiVersion, kind, schemeOf(group))

/** Why an object of `kind` cannot be decoded where options of a request are expected. */
export const notRegisteredAsOptions = (apiVersion: string, kind: string): string =>
  registeredNowhere(apiVersion, kind, optionsScheme)

function registeredNowhere(apiVersion: string, kind: string, scheme: string): string {
  return `no kind "${kind}" is registered for version "${apiVersion}" in scheme "${scheme}"`
}
