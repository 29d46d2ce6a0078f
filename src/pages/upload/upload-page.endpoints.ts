import type { Context } from 'hono';
import { html, raw } from 'hono/html';
import { apiRole } from '#access/roles/api-roles.ts';
import { userRole } from '#access/roles/roles.ts';
import type { WatchAccess } from '#platform/config/config.ts';
import { Assets, browserModules, packageFile, SCRIPT_TYPE } from '#platform/http/answer/asset.ts';
import { type Html, ICON, page, pagePolicy } from '#platform/http/answer/html-page.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import type { PublicationAddresses } from '#publications/publication-json.ts';
import { rootFrom } from '../urls/relative-urls.ts';
import { UPLOAD_PAGE_STYLE } from './upload-page-style.ts';

/** Allows only scripts and requests of this server. No site may frame the page. */
const CONTENT_SECURITY_POLICY = pagePolicy(
  { style: UPLOAD_PAGE_STYLE },
  "script-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "form-action 'self'",
  "frame-ancestors 'none'",
);

function uploadPage(c: Context, { access }: PublicationAddresses): Html {
  const { username } = c.var.principal;
  const root = rootFrom(c);
  return page(
    'Upload recordings - Inlet',
    html`<main data-account="${username}" data-role="${userRole(username)}" data-links="${access === 'signed' ? 'signed' : 'plain'}">
<header><div class="brand"><img src="${raw(ICON)}" alt=""><h1>Upload recordings</h1></div>
${c.get('inSession') ? signOut(username, root) : ''}</header>
<noscript><p role="alert">This page needs JavaScript.</p></noscript>
${formHtml(access)}
<section class="list" data-part="recordings" aria-labelledby="recordings-heading" hidden>
<h2 id="recordings-heading" data-part="recordings-heading" tabindex="-1">Your recordings</h2>
<ol data-part="cards"></ol>
</section>
<div class="unseen" role="log" data-part="announcer"></div>
</main>
${signInDialog(username)}
${templates()}
<script src="${root}upload/tus.min.js" defer></script>
<script type="module" src="${root}upload/page.js"></script>`,
    { style: UPLOAD_PAGE_STYLE },
  );
}

function signOut(username: string, root: string): Html {
  return html`<form class="who" method="post" action="${root}sign-out"><p>Signed in as <strong>${username}</strong></p>
<button class="quiet">Sign out</button></form>`;
}

function formHtml(access: WatchAccess): Html {
  return html`<form class="sheet" data-part="form" novalidate aria-labelledby="form-heading">
<h2 id="form-heading" data-part="heading">New recording</h2>
<div class="drop" data-part="drop">
<p>Drop one or two files here: the presenter, the presentation, or both.</p>
<label class="button">Choose files<input class="unseen" type="file" multiple data-part="choose" accept="video/*,audio/*,.mkv,.mov,.mxf,.ts,.m2ts,.mts,.flv,.avi,.wmv,.mpg"></label>
<ul data-part="chosen" hidden></ul>
</div>
<div class="fields">
<label class="wide">Title
<input data-part="title" name="title" autocomplete="off" maxlength="500"></label>
<div class="combobox"><label for="series">Series</label>
<input id="series" data-part="series" role="combobox" autocomplete="off" spellcheck="false" aria-expanded="false" aria-controls="series-list" aria-autocomplete="list" aria-describedby="series-said" placeholder="None; type to search">
<button type="button" class="quiet" data-part="series-clear" aria-label="No series" hidden>×</button>
<ul id="series-list" data-part="series-list" role="listbox" aria-label="Series" hidden></ul>
<span class="unseen" id="series-said" role="status" data-part="series-said"></span></div>
<label>Start
<input data-part="start" name="start" type="datetime-local"></label>
<label>Presenters
<textarea data-part="presenters" name="presenters" rows="1" aria-describedby="presenters-hint"></textarea>
<span class="hint" id="presenters-hint">One name per line</span></label>
<div><label for="audience">Who may see it</label>
<select id="audience" data-part="audience" name="audience" aria-describedby="audience-hint">
<option value="series" hidden disabled>Everyone who may see the series</option>
<option value="users" selected>Everyone who is signed in</option>
<option value="everybody">Everyone</option>
<option value="account">Only my account</option>
</select>
<p class="hint" id="audience-hint">${AUDIENCE_HINTS[access]}</p></div>
</div>
<p role="alert" data-part="fault" hidden></p>
<div class="acts"><button data-part="submit">Upload</button>
<button type="button" class="quiet" data-part="discard" hidden>Discard changes</button></div>
</form>`;
}

const FOR_READERS = 'Listed for everyone with access. Only they can open the link to watch it.';
const AUDIENCE_HINTS: Readonly<Record<WatchAccess, string>> = {
  page: FOR_READERS,
  strict: FOR_READERS,
  link: 'Listed for everyone with access. The link to watch it works for anyone who has it.',
  signed: 'Listed for everyone with access. Links to watch it expire.',
};

function signInDialog(username: string): Html {
  return html`<dialog aria-labelledby="sign-in-heading"><form data-part="sign-in-form">
<h2 id="sign-in-heading">Sign in again</h2>
<p>Your session has expired. Uploads resume from where they stopped.</p>
<p role="alert" data-part="sign-in-fault" hidden></p>
<label>User name
<input name="username" value="${username}" readonly autocomplete="username"></label>
<label>Password
<input name="password" type="password" required autocomplete="current-password" data-part="password"></label>
<div class="acts"><button data-part="sign-in-submit">Sign in</button>
<button type="button" class="quiet" data-part="later">Later</button></div>
</form></dialog>`;
}

function templates(): Html {
  return html`<template id="chosen-file"><li><span><span data-part="name"></span> <small data-part="size"></small></span>
<select data-part="field"><option value="presenter">Presenter</option><option value="presentation">Presentation</option></select>
<button type="button" class="quiet" data-part="remove">Remove</button></li></template>
<template id="card"><li class="card sheet"><h3 data-part="title" tabindex="-1"></h3>
<p class="facts faint" data-part="facts"></p>
<progress max="1" data-part="bar"></progress>
<p class="state" data-part="state"></p>
<p class="figures faint" data-part="figures"></p>
<p class="hint" role="alert" data-part="hint" hidden></p>
<div class="acts"><a class="button" data-part="watch" target="_blank" rel="noopener" hidden>Watch</a>
<label class="button" data-part="again-label" hidden>Choose file again<input class="unseen" type="file" data-part="again"></label>
<button type="button" data-part="sign-in" hidden>Sign in</button>
<button type="button" data-part="resume" hidden>Resume</button>
<button type="button" class="quiet" data-part="edit" hidden>Edit details</button>
<button type="button" class="quiet" data-part="pause" hidden>Pause</button>
<button type="button" class="quiet" data-part="remove">Cancel</button></div></li></template>`;
}

/** The scripts of the page, and the tus client for browsers. */
const UPLOAD_ASSETS = new Assets({
  ...browserModules(new URL('./browser/', import.meta.url)),
  'tus.min.js': packageFile('tus-js-client/dist/tus.min.js', SCRIPT_TYPE),
});

/** Shows the upload page. It loads nothing from other hosts. */
export const uploadingPage = defineEndpoint({
  method: 'get',
  path: '/upload',
  access: apiRole('EVENTS_CREATE'),
  handle: ({ c }, { addresses }: { addresses: PublicationAddresses }) => {
    return c.html(uploadPage(c, addresses), 200, {
      'Content-Security-Policy': CONTENT_SECURITY_POLICY,
      'Cache-Control': 'no-store',
      // The page checks that it still belongs to this account.
      'Inlet-Account': encodeURIComponent(c.var.principal.username),
    });
  },
});

export const uploadAsset = defineEndpoint({
  method: 'get',
  path: '/upload/{name}',
  access: 'public',
  handle: ({ c, params }) => UPLOAD_ASSETS.answer(c, params.name),
});
