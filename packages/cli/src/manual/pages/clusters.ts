import type { ManualPages } from '../manual-page.ts'

/** Commands that run and examine a cluster of this machine. */
export const clusterPages: ManualPages = {
  up: {
    details: [
      'When it says that it is ready, DIRECTORY/kubeconfig opens the cluster to kubectl and other clients; coracle itself finds .coracle/kubeconfig here or in a directory above.',
      'On the process runtime containers are processes of this host, which run as you, or as the user that their pod names where root starts them: their image is only recorded, and they need a command, or what --images says of their image. On the simulated runtime pods exist in the API alone.',
      'A cluster with a name is in .coracle/clusters/NAME, beside the one without. All contexts are in .coracle/kubeconfig; a port that another cluster has is not taken from it.',
      'With --detach the command returns when the cluster is ready, which goes on without the terminal: its log is read with server-logs, and down stops it.',
      'With -o json every line is an object: type is ready (with url, kubeconfig, pid) or change (with time, object, message, severity).',
      'Ctrl-C stops the pods, then the cluster; a second one does not wait for the pods. What is stored stays in the data directory for the next start.',
    ],
    examples: [
      ['a cluster with an application in it', 'coracle up -f examples/deployment.yaml --runtime simulated'],
      ['a cluster that leaves nothing behind, on any free port', 'coracle up --memory --port 0'],
      ['a thousand nodes that run nothing', 'coracle up --memory --nodes 1000 --runtime simulated'],
      ['a second cluster that goes on by itself', 'coracle up --name staging --detach'],
      ['one of several servers that share etcd', 'coracle up --store etcd://10.0.0.1:2379,10.0.0.2:2379'],
    ],
    seeAlso: ['status', 'down', 'server-logs', 'use', 'doctor'],
  },
  status: {
    details: [
      'A cluster is running, starting, stopping, silent (it does not answer within three seconds), stopped, or killed: it has ended without having been stopped, and its pods may run on until the next start takes them up.',
      'With -o json and -o yaml more is told: the data directory, version, store, runtime and CPU time.',
    ],
    examples: [
      ['all clusters of this directory', 'coracle status'],
      ['what a script wants to know of one', 'coracle status --name staging -o json'],
    ],
    exitCodes: { 0: 'one of them runs', 1: 'none of them runs' },
    seeAlso: ['up', 'down', 'server-logs'],
  },
  down: {
    details: [
      'Only the server that has the data directory is ended, as its lock tells: what a server that was killed has left is no reason to end anybody. Where none runs that is said, and is no failure.',
    ],
    examples: [
      ['the cluster of this directory', 'coracle down'],
      ['one with a name', 'coracle down --name staging'],
      ['all that were started here', 'coracle down --all'],
    ],
    seeAlso: ['up', 'status'],
  },
  'server-logs': {
    details: ['The log of a server is put aside at 10 MiB, and the one that was aside before is removed.'],
    examples: [
      ['the last events, and those that come', 'coracle server-logs --tail 20 -f'],
      ['of a cluster with a name', 'coracle server-logs --name staging'],
    ],
    seeAlso: ['up', 'status', 'logs', 'events'],
  },
  use: {
    details: ['It is the same as config use-context, for the clusters of this directory.'],
    examples: [
      ['work with another cluster', 'coracle use staging'],
      ['go back to the one without a name', 'coracle use coracle'],
    ],
    seeAlso: ['up', 'status', 'config use-context'],
  },
  kubeconfig: {
    details: ['Every cluster writes a kubeconfig into its data directory when it starts.'],
    examples: [['give kubectl a cluster by its context', 'coracle kubeconfig merge']],
    seeAlso: ['use', 'config view'],
  },
  'kubeconfig print': {
    examples: [
      ['a file for another program', 'coracle kubeconfig print'],
      ['of a cluster with a name', 'coracle kubeconfig print --name staging'],
    ],
    seeAlso: ['kubeconfig merge', 'config view'],
  },
  'kubeconfig merge': {
    details: [
      'The file is replaced as a whole, or not at all. Comments, and what others have put there, stay; an entry of the same name that is not from this cluster is a reason to refuse.',
    ],
    examples: [
      ['add it to what kubectl reads', 'coracle kubeconfig merge --use'],
      [
        'under another name, elsewhere',
        'coracle kubeconfig merge --name staging --context-name local --into team.yaml',
      ],
    ],
    seeAlso: ['kubeconfig remove', 'use'],
  },
  'kubeconfig remove': {
    details: ['Where the context is the current one, the one before becomes it again.'],
    examples: [['undo a merge', 'coracle kubeconfig remove --name staging']],
    seeAlso: ['kubeconfig merge'],
  },
  snapshot: {
    details: [
      'The file is portable: JSON lines, compressed, with a version and a checksum, and with every object as the API shows it: uid, times, status, owners of fields, and the revision it had.',
    ],
    examples: [['keep what there is', 'coracle snapshot save before-upgrade.snapshot']],
    seeAlso: ['import', 'doctor'],
  },
  'snapshot save': {
    details: [
      'Without --name and --data-dir it is the cluster that other commands mean, and may be any Kubernetes. With them it is one of this machine, whether it runs or not.',
      'A running cluster is read at one revision, where it can show that. The file is for its owner alone and replaced as a whole; it holds Secrets.',
    ],
    examples: [
      ['the cluster that is meant here', 'coracle snapshot save today.snapshot'],
      ['one that does not run', 'coracle snapshot save staging.snapshot --name staging'],
    ],
    seeAlso: ['snapshot restore', 'import'],
  },
  'snapshot restore': {
    details: [
      'The cluster must not run. It has what it had before until all objects of a snapshot that is whole are written. They keep their uids, times and status; revisions are new, so whoever watches lists again. Keys and certificates stay those of the directory.',
    ],
    examples: [
      ['into a new cluster', 'coracle snapshot restore today.snapshot --name yesterday'],
      ['in place of what is there', 'coracle snapshot restore today.snapshot --overwrite'],
    ],
    seeAlso: ['snapshot save', 'up'],
  },
  import: {
    details: [
      'Only lists are asked of the source. What one may not read is said, and so is what is left out: Events, Leases, webhooks and other servers behind the API, which would be called by the copy too, and what this server does not know.',
      'The copy is the cluster "imported" unless --name says otherwise. When it is started, nodes and pods go on as they are, simulated: nothing runs.',
    ],
    examples: [
      ['a copy to try things on', 'coracle import --context production'],
      [
        'without what is secret, under a name',
        'coracle import --context production --name rehearsal --without-secrets',
      ],
    ],
    seeAlso: ['up', 'snapshot'],
  },
  doctor: {
    details: [
      'The store is examined where the cluster is stopped. Restore the data directory from a backup where there is one; --repair is for where there is none.',
    ],
    examples: [
      ['examine the cluster of this directory', 'coracle doctor'],
      ['give up what is damaged, to start again', 'coracle doctor --data-dir /var/lib/coracle --repair'],
    ],
    seeAlso: ['up'],
  },
}
