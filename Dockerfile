# SPDX-License-Identifier: GPL-3.0-or-later
# docker build -t retro-meshes .                       conversions between our formats and glTF: no Blender inside
# docker build -t retro-meshes --target blender .      with Blender's module: also fbx, obj, ply, stl, usd and .blend
# docker run --rm -v "$PWD:/data" retro-meshes convert models -o converted --to b3d
FROM python:3.11-slim-bookworm AS plain
COPY pyproject.toml blender_manifest.toml README.md LICENSE /source/
COPY io_retro_meshes /source/io_retro_meshes
RUN pip install --no-cache-dir '/source[cluster,progress]' && rm -r /source
WORKDIR /data
ENTRYPOINT ["retro-meshes"]

FROM plain AS blender
RUN apt-get update && apt-get install -y --no-install-recommends \
      libx11-6 libxi6 libxxf86vm1 libxfixes3 libxrender1 libxkbcommon0 libsm6 libice6 libgl1 libgomp1 \
    && rm -rf /var/lib/apt/lists/*
RUN pip install --no-cache-dir bpy==4.5.4 numpy==1.26.4

FROM plain
