/** The addresses of players of Opencast, with the event in the query. */
export const OLD_PLAYERS: readonly string[] = [
  '/paella8/ui/watch.html',
  '/paella7/ui/watch.html',
  '/paella/ui/watch.html',
  '/paella/ui/embed.html',
  '/engage/theodul/ui/core.html',
  '/engage/ui/watch.html',
  '/engage/ui/embed.html',
];
