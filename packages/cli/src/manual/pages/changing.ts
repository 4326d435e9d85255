import type { ManualPages } from '../manual-page.ts'

/** Commands that change or remove objects that are there. */
export const changingPages: ManualPages = {
  apply: {
    details: [
      'Only fields that a file names, or named the last time, are changed: what others have set stays. With --server-side the server decides that by the owner of each field, and refuses to take fields from another owner unless --force-conflicts is given.',
    ],
    examples: [
      ['a file, a directory, standard input', 'coracle apply -f examples/deployment.yaml'],
      ['by the server, as owner of the fields', 'coracle apply -f examples/deployment.yaml --server-side'],
      ['only check it', 'coracle apply -f examples/deployment.yaml --dry-run=server'],
      ['and delete what the files have no more', 'coracle apply -f examples/ --prune -l app=web'],
    ],
    seeAlso: ['diff', 'create', 'delete', 'apply view-last-applied'],
  },
  'apply view-last-applied': {
    examples: [
      ['as YAML', 'coracle apply view-last-applied deployment/web'],
      ['of all with a label, as JSON', 'coracle apply view-last-applied deployments -l app=web -o json'],
    ],
    seeAlso: ['apply', 'apply set-last-applied', 'diff'],
  },
  'apply set-last-applied': {
    details: [
      'Fields that are in what was last applied and in a file no more are taken away by the next apply. This says what counts as that, without a change to anything else.',
    ],
    examples: [
      ['the file counts as applied', 'coracle apply set-last-applied -f examples/deployment.yaml'],
      [
        'also for what was never applied',
        'coracle apply set-last-applied -f examples/deployment.yaml --create-annotation',
      ],
    ],
    seeAlso: ['apply', 'apply view-last-applied'],
  },
  'apply edit-last-applied': {
    examples: [['in $KUBE_EDITOR or $EDITOR', 'coracle apply edit-last-applied deployment/web']],
    seeAlso: ['apply', 'edit', 'apply set-last-applied'],
  },
  replace: {
    examples: [
      ['an object by the one in the file', 'coracle replace -f examples/deployment.yaml'],
      ['deleted and made anew', 'coracle replace --force -f examples/deployment.yaml'],
    ],
    seeAlso: ['apply', 'patch', 'edit'],
  },
  diff: {
    details: ['Values of Secrets are masked: what differs is told, and not how. With --show-secrets they are shown.'],
    examples: [['what apply would change', 'coracle diff -f examples/deployment.yaml']],
    exitCodes: { 0: 'nothing differs', 1: 'something differs', 2: 'it failed, and standard error says why' },
    seeAlso: ['apply'],
  },
  edit: {
    examples: [
      ['a Deployment, in $KUBE_EDITOR or $EDITOR', 'coracle edit deployment web'],
      ['its status', 'coracle edit deployment web --subresource=status'],
    ],
    seeAlso: ['patch', 'apply', 'set image'],
  },
  delete: {
    details: [
      'What an object owns goes after it (--cascade=background), before it (foreground), or stays (orphan). It returns when the objects are gone, unless --wait=false is given.',
    ],
    examples: [
      ['what a file made', 'coracle delete -f examples/deployment.yaml'],
      ['by label', 'coracle delete pods,services -l app=web'],
      ['a controller without its pods', 'coracle delete rc frontend --cascade=orphan'],
      ['at once', 'coracle delete pod web-0 --now'],
    ],
    seeAlso: ['stop', 'drain', 'why'],
  },
  scale: {
    details: ['The preconditions --current-replicas and --resource-version must hold, or nothing is changed.'],
    examples: [
      ['three replicas', 'coracle scale deployment web --replicas=3'],
      ['only if there are two now', 'coracle scale rc frontend --replicas=3 --current-replicas=2'],
    ],
    seeAlso: ['autoscale', 'rollout status'],
  },
  label: {
    examples: [
      ['set one, and take one away', 'coracle label pod web-0 stage=canary old-'],
      ['of all pods that are selected', 'coracle label pods -l app=web checked=yes --overwrite'],
    ],
    seeAlso: ['annotate', 'get'],
  },
  annotate: {
    examples: [
      ['set one', "coracle annotate deployment web kubernetes.io/change-cause='new image'"],
      ['take one away', 'coracle annotate deployment web kubernetes.io/change-cause-'],
    ],
    seeAlso: ['label', 'rollout history'],
  },
  patch: {
    examples: [
      ['some fields', `coracle patch deployment web -p '{"spec":{"replicas":3}}'`],
      ['a JSON patch', `coracle patch configmap x --type=json -p '[{"op":"remove","path":"/metadata/finalizers"}]'`],
    ],
    seeAlso: ['apply', 'edit', 'set image'],
  },
}
