import type { ManualPages } from '../manual-page.ts'

/** Commands that ask what the server has and is. */
export const serverPages: ManualPages = {
  'cluster-info': {
    examples: [['where the API is served', 'coracle cluster-info']],
    seeAlso: ['cluster-info dump', 'version', 'config view'],
  },
  'cluster-info dump': {
    details: ['Secrets and ConfigMaps are not among what is written; what containers have logged is.'],
    examples: [
      ['a folder to attach to a report', 'coracle cluster-info dump --all-namespaces --output-directory=dump'],
      ['one namespace', 'coracle cluster-info dump --namespaces=shop -o yaml'],
    ],
    seeAlso: ['events', 'logs', 'why'],
  },
  certificate: {
    examples: [['have a certificate signed', 'coracle certificate approve jane']],
    seeAlso: ['certificate approve', 'certificate deny'],
  },
  'certificate approve': {
    details: [
      'Look at a request before you approve it: coracle describe csr NAME shows whom the certificate is for. Requests for signers of the cluster (kubernetes.io/…) get their certificates at once, others when their signer makes them: coracle get csr NAME -o jsonpath={.status.certificate} prints it, in base64.',
    ],
    examples: [
      ['have it signed', 'coracle certificate approve jane'],
      ['the requests of a file', 'coracle certificate approve -f requests.yaml'],
    ],
    seeAlso: ['certificate deny', 'describe', 'config set-credentials'],
  },
  'certificate deny': {
    examples: [['refuse it', 'coracle certificate deny jane']],
    seeAlso: ['certificate approve', 'describe'],
  },
  proxy: {
    details: [
      'Whoever reaches the address acts with your rights. Requests by another host name than those of this machine are refused, so that pages of the web cannot make them, and so are exec and attach; streams, watches and WebSockets pass.',
    ],
    examples: [
      ['the API for curl and browsers', 'coracle proxy --port=8080'],
      ['a socket that only you may open', 'coracle proxy --unix-socket=/tmp/api.sock'],
      ['a page of your own beside the API', 'coracle proxy --www=site --www-prefix=/site/ --api-prefix=/'],
    ],
    seeAlso: ['get', 'config view'],
  },
  explain: {
    details: [
      'Custom types are explained like any other. With --json-schema it writes what editors and validators check manifests by: JSON Schema (draft 7) of one type, or of all types in one file, or a file for each with --output-dir, named as kubeconform looks for them.',
    ],
    examples: [
      ['a type and its fields', 'coracle explain deployments'],
      ['one field', 'coracle explain pods.spec.containers.resources'],
      ['all fields at a glance', 'coracle explain cronjobs --recursive'],
      ['a schema for the editor', 'coracle explain --json-schema'],
      ['a folder of schemas for a validator', 'coracle explain --json-schema --output-dir schemas'],
    ],
    seeAlso: ['api-resources', 'get'],
  },
  'api-resources': {
    examples: [
      ['all types, with their short names', 'coracle api-resources'],
      ['those of one group that can be listed', 'coracle api-resources --api-group=apps --verbs=list'],
    ],
    seeAlso: ['api-versions', 'get'],
  },
  'api-versions': {
    examples: [['all versions', 'coracle api-versions']],
    seeAlso: ['api-resources', 'version'],
  },
  auth: {
    examples: [['whether one may delete pods', 'coracle auth can-i delete pods']],
    seeAlso: ['auth can-i', 'auth reconcile', 'auth whoami'],
  },
  'auth can-i': {
    examples: [
      ['in this namespace', 'coracle auth can-i create deployments'],
      ['all that one may do', 'coracle auth can-i --list'],
      ['in a script', 'coracle auth can-i get nodes -q'],
    ],
    exitCodes: { 0: 'yes', 1: 'no, or it failed' },
    seeAlso: ['auth whoami', 'create role'],
  },
  'auth reconcile': {
    details: [
      'As apply does, but with an eye for what rules mean: one that is granted already is not added again. Namespaces that are not there are created. An object with the annotation rbac.authorization.kubernetes.io/autoupdate: "false" is left as it is.',
    ],
    examples: [
      ['what the file grants, beside what is granted', 'coracle auth reconcile -f roles.yaml'],
      [
        'that and nothing else',
        'coracle auth reconcile -f roles.yaml --remove-extra-permissions --remove-extra-subjects',
      ],
      ['only tell what would change', 'coracle auth reconcile -f roles.yaml --dry-run=client'],
    ],
    seeAlso: ['auth can-i', 'apply', 'create role'],
  },
  'auth whoami': {
    examples: [['who the server takes one for', 'coracle auth whoami']],
    seeAlso: ['auth can-i'],
  },
  version: {
    examples: [
      ['of this program and of the server', 'coracle version'],
      ['of this program alone', 'coracle version --client -o json'],
    ],
    seeAlso: ['api-versions'],
  },
}
