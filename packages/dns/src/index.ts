/** Names of services: what answers them. */

export { type ClusterDns, type ClusterDnsOptions, createClusterDns } from './cluster-dns.ts'
export type { Exchange, Server } from './forward/exchange.ts'
export type { Listening, ListensAt } from './server/listening.ts'
