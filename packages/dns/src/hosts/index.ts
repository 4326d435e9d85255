/** Names of services for processes of this host, which cannot ask a server of names: as lines of hosts files. */

export { gatherMs, hostLinesMax, restMs, ServiceHosts, type ServiceHostsOptions } from './service-hosts.ts'
