"""Small lock files of each kind, as their package managers write them."""

from __future__ import annotations

REQUIREMENTS = """\
# by hand
Django==4.2.1 \\
    --hash=sha256:0123456789abcdef
requests[socks] == 2.19.0 ; python_version < "4"
urllib3>=1.0, ==1.24.1
left_pad>=1
six==1.*
flask @ git+https://example.com/flask@1==1
-r others.txt
jinja2 \\
  ===2.10
"""
POETRY = """\
[[package]]
name = "Jinja2"
version = "2.10"

[[package]]
name = "ours"
version = "1.0"
[package.source]
type = "directory"
url = "../ours"

[[package]]
name = "mirrored"
version = "3.1"
[package.source]
type = "legacy"
url = "https://index.example.com"

[metadata]
lock-version = "2.0"
"""
UV = """\
version = 1

[[package]]
name = "jinja2"
version = "2.10"
source = { registry = "https://index.example.com/simple" }
dependencies = [{ name = "markupsafe" }]

[[package]]
name = "work"
version = "0.1.0"
source = { editable = "." }
"""
PDM = """\
[[package]]
name = "jinja2"
version = "2.10"
files = [{file = "jinja2-2.10.tar.gz", hash = "sha256:00"}]

[[package]]
name = "ours"
version = "1.0"
path = "./ours"
"""
PYLOCK = """\
lock-version = "1.0"
[[packages]]
name = "jinja2"
version = "2.10"
[[packages]]
name = "ours"
directory = { path = "." }
"""
PIPENV = """\
{
    "_meta": {"pipfile-spec": 6},
    "default": {
        "jinja2": {
            "version": "==2.10"
        },
        "ours": {"path": "."}
    },
    "develop": {
        "six": {
            "version": "==1.16.0"
        }
    }
}
"""
NPM_THREE = """\
{
  "name": "work", "lockfileVersion": 3,
  "packages": {
    "": {"name": "work", "version": "1.0.0"},
    "node_modules/lodash": {
      "version": "4.17.20",
      "resolved": "https://registry.example.com/lodash/-/lodash-4.17.20.tgz"
    },
    "node_modules/@babel/core/node_modules/lodash": {
      "version": "3.0.0"
    },
    "node_modules/other-name": {
      "name": "minimist",
      "version": "1.2.0"
    },
    "node_modules/forked": {
      "version": "1.0.0",
      "resolved": "git+ssh://git@example.com/forked.git#0"
    },
    "packages/part": {"version": "1.0.0"},
    "node_modules/part": {"resolved": "packages/part", "link": true}
  }
}
"""
NPM_ONE = """\
{
  "lockfileVersion": 1,
  "dependencies": {
    "lodash": {
      "version": "4.17.20",
      "dependencies": {
        "minimist": {
          "version": "npm:minimist@1.2.0"
        }
      }
    },
    "archived": {
      "version": "https://registry.example.com/archived/-/archived-2.0.1.tgz"
    },
    "forked": {"version": "github:somebody/forked#0"}
  }
}
"""
YARN_ONE = """\
# yarn lockfile v1


"@babel/core@^7.0.0", "@babel/core@^7.1.0":
  version "7.1.0"
  resolved "https://registry.example.com/@babel/core/-/core-7.1.0.tgz#00"
  dependencies:
    lodash "^4.17.10"

lodash@^4.17.10:
  version "4.17.20"

"other-name@npm:minimist@^1.2.0":
  version "1.2.0"

forked@git+https://example.com/forked.git:
  version "1.0.0"
"""
YARN_BERRY = """\
__metadata:
  version: 8
  cacheKey: 10

"@babel/core@npm:^7.0.0, @babel/core@npm:^7.1.0":
  version: 7.1.0
  resolution: "@babel/core@npm:7.1.0"
  dependencies:
    lodash: "npm:^4.17.10"

"lodash@patch:lodash@npm%3A4.17.20#./a.patch":
  version: 4.17.20
  resolution: "lodash@patch:lodash@npm%3A4.17.20#./a.patch::version=4.17.20&hash=00"

"other-name@npm:minimist@^1.2.0":
  version: 1.2.0
  resolution: "minimist@npm:1.2.0"

"work@workspace:.":
  version: 0.0.0-use.local
  resolution: "work@workspace:."
"""
BUN = """\
{
  "lockfileVersion": 1,
  "workspaces": {
    "": {
      "name": "work, [}",
      "dependencies": { "lodash": "^4.17.10", },
    },
  },
  "packages": {
    "@babel/core": ["@babel/core@7.1.0", "", { "dependencies": { "lodash": "^4.17.10" } }, "sha512-00=="],

    "forked": ["forked@github:somebody/forked#00", {}, "somebody-forked-00"],

    "lodash": ["lodash@4.17.20", "", {}, "sha512-00=="],

    "other-name": ["minimist@1.2.0", "", {}, "sha512-00=="],

    "part": ["part@workspace:packages/part"],

    "@babel/core/lodash": ["lodash@3.0.0", "", {}, "sha512-00=="],
  }
}
"""
PNPM_FIVE = """\
lockfileVersion: 5.4
packages:

  /@babel/core/7.1.0_abc@1.0.0:
    resolution: {integrity: sha512-00}
    dev: true

  /lodash/4.17.20:
    resolution: {integrity: sha512-00}

  github.com/somebody/forked/00:
    version: 1.0.0
"""
PNPM_NINE = """\
lockfileVersion: '9.0'
importers:
  .:
    dependencies:
      lodash: {specifier: ^4.17.10, version: 4.17.20}
packages:
  '@babel/core@7.1.0(react@1.0.0)':
    resolution: {integrity: sha512-00}
    engines: [node, {npm: 1}]
  lodash@4.17.20:
    resolution: {integrity: sha512-00}
  forked@https://codeload.github.com/somebody/forked/tar.gz/00:
    resolution: {tarball: here}
snapshots:
  lodash@4.17.20: {}
"""
GO_MOD = """\
module example.com/work

go 1.21

require (
\tgolang.org/x/text v0.3.5 // indirect
\texample.com/old v1.0.0
\texample.com/near v1.0.0
)

require example.com/single v2.0.0+incompatible

replace example.com/old v1.0.0 => example.com/new v1.1.0
replace example.com/near => ../near
"""
GO_SUM = """\
golang.org/x/text v0.3.5 h1:aaaa=
golang.org/x/text v0.3.5/go.mod h1:bbbb=
golang.org/x/text v0.10.0 h1:cccc=
golang.org/x/text v0.20.0/go.mod h1:dddd=
"""
CARGO = """\
version = 3

[[package]]
name = "time"
version = "0.1.42"
source = "registry+https://github.com/rust-lang/crates.io-index"

[[package]]
name = "work"
version = "0.1.0"

[[package]]
name = "forked"
version = "1.0.0"
source = "git+https://github.com/somebody/forked#00"
"""
GEMFILE = """\
GIT
  remote: https://example.com/forked.git
  specs:
    forked (1.0.0)

GEM
  remote: https://rubygems.org/
  specs:
    nokogiri (1.13.0-x86_64-linux)
      racc (~> 1.4)
    rails (7.0.1)

PLATFORMS
  ruby

DEPENDENCIES
  rails (= 7.0.1)
"""
COMPOSER = """\
{
    "packages": [
        {
            "name": "Guzzle/http",
            "version": "v6.5.0"
        },
        {"name": "some/branch", "version": "dev-main"}
    ],
    "packages-dev": [
        {
            "name": "phpunit/phpunit",
            "version": "9.5.0"
        }
    ]
}
"""
NUGET = """\
{
  "version": 1,
  "dependencies": {
    "net8.0": {
      "Newtonsoft.Json": {
        "type": "Direct", "requested": "[12.0.1, )", "resolved": "12.0.1"
      },
      "work": {"type": "Project"}
    }
  }
}
"""
GRADLE = """\
# This is a Gradle generated file for dependency locking.
org.apache.logging.log4j:log4j-core:2.14.1=compileClasspath,runtimeClasspath
empty=annotationProcessor
"""
