import type { ManualPages } from '../manual-page.ts'

/** Commands that run and examine a cluster of this machine. */
export const clusterPages: ManualPages = {
  up: {
    details: [
      'When it says that it is ready, DIRECTORY/kubeconfig opens the cluster to kubectl and other clients; coracle itself finds .coracle/kubeconfig here or in a directory above.',
      'On the process runtime containers are processes of this host, which run as you: their image is only recorded, and they need a command. On the simulated runtime pods exist in the API alone.',
      'Ctrl-C stops the pods, then the cluster; a second one does not wait for the pods. What is stored stays in the data directory for the next start.',
    ],
    examples: [
      ['a cluster with an application in it', 'coracle up -f examples/deployment.yaml --runtime simulated'],
      ['a cluster that leaves nothing behind, on any free port', 'coracle up --memory --port 0'],
      ['a thousand nodes that run nothing', 'coracle up --memory --nodes 1000 --runtime simulated'],
      ['one of several servers that share etcd', 'coracle up --store etcd://10.0.0.1:2379,10.0.0.2:2379'],
    ],
    seeAlso: ['get', 'events', 'doctor'],
  },
  doctor: {
    details: [
      'The cluster must be stopped. Restore the data directory from a backup where there is one; --repair is for where there is none.',
    ],
    examples: [
      ['examine the cluster of this directory', 'coracle doctor'],
      ['give up what is damaged, to start again', 'coracle doctor --data-dir /var/lib/coracle --repair'],
    ],
    seeAlso: ['up'],
  },
}
