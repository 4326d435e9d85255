/** Why an answer differs from that of upstream, where it has to. */
export interface KnownReason {
  /** Found in lines that differ, with the name of the request before them: `create Pod: spec = {} | - .metadata.generation: 1`. */
  readonly pattern: RegExp
  readonly reason: string
  /** Of servers of 1.x before this one; without it, of all. */
  readonly before?: number
}

export const knownReasons: readonly KnownReason[] = [
  {
    pattern: /in scheme "k8s.io|no kind ".*" is registered for version "[^"]*" \(/,
    reason: 'the scheme is no longer named by the place of its source',
    before: 36,
  },
  {
    pattern:
      /update [A-Z].*metadata\.managedFields|v1\.ObjectMeta|ReadString: |readObjectStart|assertInteger|unmarshalerDecoder|json: cannot unmarshal/,
    reason: 'what cannot be decoded is told in other words since 1.22',
    before: 22,
  },
  { pattern: /ownerReferences\.(kind|name|uid): /, reason: 'owners have other words since 1.34', before: 34 },
  {
    pattern: /Execution(\[\d*\])?.*values\[\d*\]|nodeAffinity.*values/,
    reason: 'labels in the affinity of volumes are checked since 1.32',
    before: 32,
  },
  {
    pattern: /csi\.name: |nodePublishSecretRef ?\.name/,
    reason: 'names of secrets may be subdomains since 1.27',
    before: 27,
  },
  { pattern: /scaleTargetRef\.apiVersion/, reason: 'the target of an autoscaler has a group since 1.34', before: 34 },
  {
    pattern: /StatefulSet: .* \| [+-] (201|422|200|spec\.template)/,
    reason: 'templates of stateful sets are checked since 1.27',
    before: 27,
  },
  {
    pattern:
      /storageCapacity|requiresRepublish|ttlSecondsAfterFinished|dataSourceRef|observedGeneration|acceptedNames\.listKind/,
    reason: 'labels and fields that came later',
    before: 36,
  },
  {
    pattern:
      /spec\.username|spec\.uid: |details\.uid|status\.(current|update)Revision|default-token|-token-|ServiceAccount: .*secrets/,
    reason: 'the servers know the client by other names, and make other identities',
  },
  { pattern: /env\[\d*\]\.name: /, reason: 'names of variables may hold more since 1.34', before: 34 },
  {
    pattern: /must be (a )?valid (IP|CIDR)|must be a list of IP ranges|not a valid (CIDR|IP)|must be a valid CIDR/,
    reason: 'addresses have other words since 1.30',
    before: 30,
  },
  {
    pattern:
      /hostAliases\.ip|\.match(Expressions|Labels)?\.matchExpressions\[|podAffinityTerm\.match(Labels|Expressions)|(Execution\[\d*\]|labelSelector)\.match(Labels|Expressions)/,
    reason: 'the field of a refusal is named whole since 1.22',
    before: 22,
  },
  {
    pattern: /topologySpreadConstraints\[\d*\]\.labelSelector/,
    reason: 'selectors of spread constraints are checked since 1.26',
    before: 26,
  },
  {
    pattern: /[+] \.spec\.(ipFamilies|ipFamilyPolicy|clusterIPs|allocateLoadBalancerNodePorts|internalTrafficPolicy)/,
    reason: 'services have families of addresses everywhere since 1.21',
    before: 21,
  },
  {
    pattern: / \.spec\.clusterIPs?(\[\])?: "|nodePort: \d+$|: Invalid value: \d+: provided port is (not in|already)/,
    reason: 'each server chooses addresses and ports by itself',
  },
  {
    pattern: /json patch of .* \| [+] patch: /,
    reason: 'a patch that does not apply says why',
  },
  {
    pattern:
      /json patch of .* \| ([+] Invalid|- Invalid: the server rejected our request due to an error in our request)$/,
    reason: 'a patch that does not apply says why',
  },
  {
    pattern: /controller-uid|batch.kubernetes.io\/|manualSelector: false|kubernetes.io\/metadata.name/,
    reason: 'labels and fields that came later',
    before: 36,
  },
  { pattern: /sysctls\[\d*\]\.name/, reason: 'names of sysctls may have slashes since 1.23', before: 23 },
  {
    pattern: /creationTimestamp: null$/,
    reason: 'a time of creation that is not set is left out since 1.34',
    before: 34,
  },
  {
    pattern: /BadRequest: .* cannot be handled as a/,
    reason: 'what cannot be decoded is told in other words since 1.22',
    before: 22,
  },
  {
    pattern: /seccomp.security.alpha.kubernetes.io/,
    reason: 'profiles are no longer repeated as annotations since 1.27',
    before: 27,
  },
  {
    pattern: /create (Pod|PodTemplate|CronJob|HorizontalPodAutoscaler|.*): .*\| . \.metadata\.generation: 1$/,
    reason: 'more kinds count generations',
    before: 36,
  },
  {
    pattern: /: Unsupported value: (\{|"?\w*"?: supported values: .*ReadWriteOncePod)/,
    reason: 'more values are supported',
    before: 36,
  },
  {
    pattern: /supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce" /,
    reason: 'more values are supported',
    before: 36,
  },
  {
    pattern: /must specify one of: `fieldRef`/,
    reason: 'there are files as sources of variables since 1.34',
    before: 34,
  },
]

/** The lines that have no reason for a server of 1.`minor`; those that have one are counted by it. */
export function withoutReason(
  lines: readonly string[],
  name: string,
  minor: number,
  counts: Map<string, number>,
): readonly string[] {
  return lines.filter((line) => {
    const known = knownReasons.find(
      ({ pattern, before = Infinity }) => minor < before && pattern.test(`${name} | ${line}`),
    )
    if (known !== undefined) counts.set(known.reason, (counts.get(known.reason) ?? 0) + 1)
    return known === undefined
  })
}
